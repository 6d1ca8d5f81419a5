// Memory bandwidth of the machine, in GB/s: {"read": r, "copy": c}. Usage: bandwidth THREADS
//
// read: every thread sums its own 128 MiB as 1, 4 or 8 streams side by side; the fastest counts.
// copy: memcpy between two halves of the same memory; bytes read and bytes written both count.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

namespace {

constexpr size_t kBytes = size_t{128} << 20;
constexpr int kRounds = 9;

using Words = std::vector<uint64_t>;

// Keeps the compiler from dropping the reads.
volatile uint64_t sink;

template <int kStreams>
void readAll(Words& words) {
  const size_t part = words.size() / kStreams;
  uint64_t sums[8 * kStreams] = {};
  for (size_t i = 0; i < part; i += 8) {
    for (int stream = 0; stream < kStreams; stream++) {
      for (int k = 0; k < 8; k++) sums[8 * stream + k] ^= words[stream * part + i + k];
    }
  }
  uint64_t sum = 0;
  for (uint64_t s : sums) sum ^= s;
  sink = sum;
}

void copyHalf(Words& words) {
  const size_t half = words.size() / 2;
  std::memcpy(words.data() + half, words.data(), half * sizeof(uint64_t));
}

// Best seconds of a few rounds with all threads at work.
double best(std::vector<Words>& memory, const std::function<void(Words&)>& work) {
  double seconds = 1e9;
  for (int round = 0; round < kRounds; round++) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    for (size_t i = 1; i < memory.size(); i++) threads.emplace_back(work, std::ref(memory[i]));
    work(memory[0]);
    for (std::thread& thread : threads) thread.join();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (taken.count() < seconds) seconds = taken.count();
  }
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  if (threads < 1) return 2;
  std::vector<Words> memory(static_cast<size_t>(threads), Words(kBytes / sizeof(uint64_t), 1));
  double read = 1e9;
  for (void (*work)(Words&) : {readAll<1>, readAll<4>, readAll<8>}) {
    const double seconds = best(memory, work);
    if (seconds < read) read = seconds;
  }
  const double copy = best(memory, copyHalf);
  const double gigabytes = static_cast<double>(kBytes) * threads / 1e9;
  std::printf("{\"read\": %.3f, \"copy\": %.3f}\n", gigabytes / read, gigabytes / copy);
  return 0;
}
