// Memory: accesses outside an array, before a value is there, after it is gone, not aligned; how much is in use.
#include "cases.h"
#include "simt/memory.h"

namespace minform::cuda {
namespace {

void globalOutOfBounds(bool faulty) {
  const Buffer<float> buffer(63 + !faulty, nullptr);
  const Global<float> to = buffer.get();
  runToy([=] { to[threadIdx.x] = 1; });
}

void globalBeforeStart(bool faulty) {
  const Buffer<float> buffer(64, nullptr);
  const Global<float> to = filled(buffer, 64);
  runToy([=] { to[static_cast<int>(threadIdx.x) - (faulty ? 1 : 0)] = 1; });
}

void globalUninitialised(bool faulty) {
  const Buffer<float> in(64, nullptr), out(64, nullptr);
  if (!faulty) filled(in, 64);
  const Global<const float> from = in.get();
  const Global<float> to = out.get();
  runToy([=] { to[threadIdx.x] = from[threadIdx.x]; });
}

void globalReleased(bool faulty) {
  Buffer<float> kept(64, nullptr);
  float* data = kept.get();
  if (faulty) {
    const Buffer<float> gone(64, nullptr);
    data = gone.get();
  }
  runToy([=] {
    const Global<float> to(data);
    to[threadIdx.x] = 1;
  });
}

void globalMisaligned(bool faulty) {
  struct alignas(16) Four {
    float at[4];
  };
  const Buffer<float> buffer(300, nullptr);
  const Global<float> values = filled(buffer, 300);
  runToy([=] { storeAs<Four>(values, threadIdx.x * 4 + faulty, Four{}); });
}

void sharedOutOfBounds(bool faulty) {
  runToy([=] {
    SHARED(float, line, 64);
    line[threadIdx.x + (faulty ? 1 : 0)] = 1;
  });
}

void dynamicOutOfBounds(bool faulty) {
  runToy(
      [] {
        DYNAMIC_SHARED(float, line, 0, 64);
        line[threadIdx.x] = 1;
      },
      64, faulty ? 255 : 256);
}

void sharedUninitialised(bool faulty) {
  runToy([=] {
    SHARED(int, line, 64);
    if (threadIdx.x < (faulty ? 63 : 64)) line[threadIdx.x] = 1;
    __syncthreads();
    const int seen = line[63 - threadIdx.x];
    if (seen != 1) simt::block().fail(FaultKind::launch, "unreachable");
  });
}

void memoryRunsOut() {
  const size_t before = memoryStats().inUse;
  simt::setCapacity(1 << 20);
  bool refused = false;
  try {
    const Buffer<float> tooLarge(1 << 20, nullptr);
  } catch (const Failure& failure) {
    refused = failure.status == Status::outOfMemory;
  }
  CHECK(refused);
  resetPeak();
  {
    const Buffer<float> fits(1000, nullptr);
    CHECK(memoryStats().inUse == before + 4000);
  }
  CHECK(memoryStats().inUse == before);
  CHECK(memoryStats().peak == before + 4000);
}

}  // namespace

Cases memoryCases() {
  return {
      {"global_out_of_bounds", caught<FaultKind::outOfBounds, globalOutOfBounds>},
      {"global_before_start", caught<FaultKind::outOfBounds, globalBeforeStart>},
      {"global_uninitialised", caught<FaultKind::uninitialisedRead, globalUninitialised>},
      {"global_released", caught<FaultKind::unknownMemory, globalReleased>},
      {"global_misaligned", caught<FaultKind::misaligned, globalMisaligned>},
      {"shared_out_of_bounds", caught<FaultKind::outOfBounds, sharedOutOfBounds>},
      {"dynamic_out_of_bounds", caught<FaultKind::outOfBounds, dynamicOutOfBounds>},
      {"shared_uninitialised", caught<FaultKind::uninitialisedRead, sharedUninitialised>},
      {"memory_runs_out", memoryRunsOut},
  };
}

}  // namespace minform::cuda
