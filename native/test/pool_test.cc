// The pool runs every index exactly once, from several callers at a time, whatever the thread count.
#include "minform/pool.h"

#include <thread>
#include <vector>

#include "check.h"

static void runOnce(int64_t count) {
  std::vector<std::atomic<int>> hits(static_cast<size_t>(count));
  minform::parallelFor(
      count,
      [](void* context, int64_t i) {
        (*static_cast<std::vector<std::atomic<int>>*>(context))[static_cast<size_t>(i)]++;
      },
      &hits);
  for (auto& hit : hits) CHECK(hit == 1);
}

int main() {
  CHECK(minform::numThreads() >= 1);
  for (int threads : {1, 2, 5}) {
    minform::setNumThreads(threads);
    for (int64_t count : {0, 1, 2, 1000}) runOnce(count);
    std::vector<std::thread> callers;
    for (int i = 0; i < 4; i++) {
      callers.emplace_back([] {
        for (int round = 0; round < 50; round++) runOnce(97);
      });
    }
    for (auto& caller : callers) caller.join();
  }
  return checkResult();
}
