// Launches that the hardware would not take.
#include "cases.h"
#include "simt/memory.h"

namespace minform::cuda {
namespace {

void staticSharedLimit(bool faulty) {
  runToy([=] {
    SHARED(uint8_t, all, 48 << 10);
    all[threadIdx.x] = 1;
    if (!faulty) return;
    SHARED(uint8_t, more, 1);
    more[0] = 1;
  });
}

void refusedLaunches() {
  const auto refused = [](int threads, size_t dynamicShared) {
    try {
      runToy([] {}, threads, dynamicShared);
    } catch (const Failure& failure) {
      return failure.status == Status::invalidLaunch;
    }
    return false;
  };
  CHECK(refused(65, 0));
  CHECK(refused(0, 0));
  CHECK(refused(64, simt::kDynamicSharedLimit + 1));
  CHECK(!refused(64, simt::kDynamicSharedLimit));
}

}  // namespace

Cases launchCases() {
  return {
      {"static_shared_limit", caught<FaultKind::launch, staticSharedLimit>},
      {"refused_launches", refusedLaunches},
  };
}

}  // namespace minform::cuda
