// Races: threads that meet in shared memory without a barrier, copies that are not waited for, results that depend on
// the order of the threads.
#include "cases.h"

namespace minform::cuda {
namespace {

void raceOfWrites(bool faulty) {
  runToy([=] {
    SHARED(int, total, 64);
    total[faulty ? 0 : threadIdx.x] = static_cast<int>(threadIdx.x);
  });
}

void raceOfReadAndWrite(bool faulty) {
  runToy([=] {
    SHARED(int, line, 64);
    line[threadIdx.x] = 1;
    __syncthreads();
    const int other = line[(threadIdx.x + 1) % 64];
    if (!faulty) __syncthreads();
    line[threadIdx.x] = other + 1;
  });
}

// __syncwarp orders the lanes of a warp, and no others.
void raceAcrossWarps(bool faulty) {
  runToy([=] {
    SHARED(int, line, 64);
    line[threadIdx.x] = 0;
    __syncthreads();
    line[threadIdx.x] = 1;
    __syncwarp();
    const int other = line[threadIdx.x ^ (faulty ? 32u : 1u)];
    if (other < 0) simt::block().fail(FaultKind::launch, "unreachable");
  });
}

// A copy is there for its thread after the wait, for others after a barrier too, and must not start under a reader.
void copyThrough(bool wait, bool barrier, bool readersDone) {
  const Buffer<float> buffer(256, nullptr), out(256, nullptr);
  const Global<const float> from = filled(buffer, 256);
  const Global<float> to = out.get();
  runToy([=] {
    SHARED(float, line, 256);
    const int thread = static_cast<int>(threadIdx.x);
    for (int i = thread * 4; i < thread * 4 + 4; i++) line[i] = 1;
    __syncthreads();
    startCopy(line, thread * 4, from, thread * 4, true);
    commitCopies();
    if (wait) waitCopies<0>();
    if (barrier) __syncthreads();
    to[thread] = line[255 - thread];
    if (readersDone) __syncthreads();
    startCopy(line, thread * 4, from, thread * 4, false);
    commitCopies();
    waitCopies<0>();
  });
}
void copyNotWaitedFor(bool faulty) { copyThrough(!faulty, true, true); }
void copyWithoutBarrier(bool faulty) { copyThrough(true, !faulty, true); }
void copyUnderReaders(bool faulty) { copyThrough(true, true, !faulty); }

// What depends on the order of the threads shows when they take turns in another.
void orderShows() {
  const auto last = [](uint32_t order) {
    simt::setOrder(order);
    const Buffer<int> buffer(1, nullptr);
    const Global<int> word = buffer.get();
    runToy([=] { word[0] = static_cast<int>(threadIdx.x); });
    int value;
    copyToHost(&value, buffer.get(), sizeof value, nullptr);
    return value;
  };
  CHECK(last(0) == 63);
  CHECK(last(1) == 0);
  CHECK(last(2) != 63 || last(3) != 63);
  simt::setOrder(0);
}

}  // namespace

Cases raceCases() {
  return {
      {"race_of_writes", caught<FaultKind::race, raceOfWrites>},
      {"race_of_read_and_write", caught<FaultKind::race, raceOfReadAndWrite>},
      {"race_across_warps", caught<FaultKind::race, raceAcrossWarps>},
      {"copy_not_waited_for", caught<FaultKind::uninitialisedRead, copyNotWaitedFor>},
      {"copy_without_barrier", caught<FaultKind::race, copyWithoutBarrier>},
      {"copy_under_readers", caught<FaultKind::race, copyUnderReaders>},
      {"order_shows", orderShows},
  };
}

}  // namespace minform::cuda
