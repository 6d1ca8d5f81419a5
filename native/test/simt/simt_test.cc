// The emulator catches what it is there to catch: each fault by a toy kernel that has it, beside a twin without it.
//   simt_test <name>: one of the cases below
#include <cstring>
#include <functional>
#include <string>

#include "check.h"
#include "fragments.h"
#include "launch.h"
#include "reduce.h"
#include "simt/fault.h"
#include "simt/memory.h"

using namespace minform::cuda;
using simt::FaultKind;

namespace {

constexpr int kThreads64 = 64;

// A toy kernel from a lambda over (kernel fields); `Faulty` picks the broken variant.
template <class Code>
struct Toy {
  static constexpr int kThreads = kThreads64;
  Code code;
  void operator()() const { code(); }
};

template <class Code>
void runToy(Code code, int threads = kThreads64, size_t dynamicShared = 0) {
  launch(Toy<Code>{code}, {2, threads, dynamicShared}, nullptr);
}

void expectFault(FaultKind kind, const std::function<void()>& body) {
  try {
    body();
  } catch (const simt::Fault& fault) {
    std::fprintf(stderr, "caught: %s\n", fault.what());
    CHECK(fault.kind == kind);
    return;
  }
  CHECK(!"a fault is caught");
}

template <class T>
Global<T> filled(const Buffer<T>& buffer, int64_t count) {
  fillBytes(buffer.get(), 0, sizeof(T) * static_cast<size_t>(count), nullptr);
  return buffer.get();
}

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

void barrierAtTwoSites(bool faulty) {
  runToy([=] {
    if (faulty && threadIdx.x < 32) {
      __syncthreads();
    } else {
      __syncthreads();
    }
  });
}

void barrierAfterExit(bool faulty) {
  runToy([=] {
    if (faulty && threadIdx.x == 63) return;
    __syncthreads();
  });
}

void barrierInWarpCall(bool faulty) {
  runToy([=] {
    if (faulty && threadIdx.x % 32 == 0) __syncthreads();
    __syncwarp();
    if (!(faulty && threadIdx.x % 32 == 0)) __syncthreads();
  });
}

void shuffleFromExited(bool faulty) {
  runToy([=] {
    if (threadIdx.x % 32 == 31) return;
    __shfl_up_sync(faulty ? kAllLanes : kAllLanes >> 1, 1, 1);
  });
}

void shuffleOutsideMask(bool faulty) {
  runToy([=] {
    if (threadIdx.x % 32 >= 16) return;
    __shfl_xor_sync(0xFFFFu, 1, faulty ? 16 : 8);
  });
}

void shuffleOfMissingLanes(bool faulty) {
  runToy([=] { __ballot_sync(kAllLanes, 1); }, faulty ? 48 : 64);
}

void shuffleWithoutSelf(bool faulty) {
  runToy([=] { __syncwarp(faulty ? 1u : kAllLanes); });
}

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

void staticSharedLimit(bool faulty) {
  runToy([=] {
    SHARED(uint8_t, all, 48 << 10);
    all[threadIdx.x] = 1;
    if (!faulty) return;
    SHARED(uint8_t, more, 1);
    more[0] = 1;
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

struct FaultCase {
  const char* name;
  FaultKind kind;
  void (*run)(bool faulty);
};
const FaultCase kFaults[] = {
    {"global_out_of_bounds", FaultKind::outOfBounds, globalOutOfBounds},
    {"global_before_start", FaultKind::outOfBounds, globalBeforeStart},
    {"global_uninitialised", FaultKind::uninitialisedRead, globalUninitialised},
    {"global_released", FaultKind::unknownMemory, globalReleased},
    {"global_misaligned", FaultKind::misaligned, globalMisaligned},
    {"shared_out_of_bounds", FaultKind::outOfBounds, sharedOutOfBounds},
    {"dynamic_out_of_bounds", FaultKind::outOfBounds, dynamicOutOfBounds},
    {"shared_uninitialised", FaultKind::uninitialisedRead, sharedUninitialised},
    {"barrier_at_two_sites", FaultKind::divergentBarrier, barrierAtTwoSites},
    {"barrier_after_exit", FaultKind::divergentBarrier, barrierAfterExit},
    {"barrier_in_warp_call", FaultKind::warpMask, barrierInWarpCall},
    {"shuffle_from_exited", FaultKind::warpMask, shuffleFromExited},
    {"shuffle_outside_mask", FaultKind::warpMask, shuffleOutsideMask},
    {"shuffle_of_missing_lanes", FaultKind::warpMask, shuffleOfMissingLanes},
    {"shuffle_without_self", FaultKind::warpMask, shuffleWithoutSelf},
    {"race_of_writes", FaultKind::race, raceOfWrites},
    {"race_of_read_and_write", FaultKind::race, raceOfReadAndWrite},
    {"race_across_warps", FaultKind::race, raceAcrossWarps},
    {"copy_not_waited_for", FaultKind::uninitialisedRead, copyNotWaitedFor},
    {"copy_without_barrier", FaultKind::race, copyWithoutBarrier},
    {"copy_under_readers", FaultKind::race, copyUnderReaders},
    {"static_shared_limit", FaultKind::launch, staticSharedLimit},
};

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

// Shuffles, votes and reductions give what the hardware gives, in every order of the threads.
void intrinsics() {
  for (uint32_t order = 0; order < 4; order++) {
    simt::setOrder(order);
    const Buffer<double> buffer(64 * 6, nullptr);
    const Global<double> out = buffer.get();
    runToy([=] {
      const int lane = laneIndex(), thread = static_cast<int>(threadIdx.x);
      double sums[2] = {static_cast<double>(thread), 1.0};
      blockReduce(sums, Sum());
      double again[2] = {1.0, 0.0};
      blockReduce(again, Sum());  // without a barrier in between: it must not meet the first one's shared memory
      out[thread * 6 + 0] = __shfl_down_sync(kAllLanes, lane, 3, 16);
      out[thread * 6 + 1] = __shfl_up_sync(kAllLanes, lane, 3);
      out[thread * 6 + 2] = __ballot_sync(kAllLanes, lane % 2 == 0);
      out[thread * 6 + 3] = __any_sync(kAllLanes, lane == 7) + 2 * __all_sync(kAllLanes, lane < 31);
      out[thread * 6 + 4] = sums[0] + 10000 * sums[1] + again[0];
      out[thread * 6 + 5] = __shfl_sync(kAllLanes, lane, 5, 8);
    });
    double seen[64 * 6];
    copyToHost(seen, buffer.get(), sizeof seen, nullptr);
    for (int thread = 0; thread < 64; thread++) {
      const int lane = thread % 32;
      CHECK(seen[thread * 6 + 0] == (lane % 16 + 3 < 16 ? lane + 3 : lane));
      CHECK(seen[thread * 6 + 1] == (lane >= 3 ? lane - 3 : lane));
      CHECK(seen[thread * 6 + 2] == 0x55555555u);
      CHECK(seen[thread * 6 + 3] == 1);
      CHECK(seen[thread * 6 + 4] == 2016 + 640000 + 64);
      CHECK(seen[thread * 6 + 5] == lane / 8 * 8 + 5);
    }
  }
  simt::setOrder(0);
}

// A product of tiles through shared memory, as a tensor-core kernel does it.
void fragments() {
  const Buffer<float> buffer(256, nullptr);
  const Global<float> out = buffer.get();
  runToy([=] {
    SHARED(Bfloat16, a, 256);
    SHARED(Bfloat16, b, 256);
    SHARED(float, c, 256);
    for (int i = static_cast<int>(threadIdx.x); i < 256; i += 64) {
      Bfloat16 value;
      narrow(static_cast<float>(i % 13 - 6), value);
      a[i] = value;
      narrow(static_cast<float>(i % 7 - 3), value);
      b[i] = value;
    }
    __syncthreads();
    if (warpIndex() == 0) {
      FragmentA<Bfloat16, wmma::row_major> left;
      FragmentB<Bfloat16, wmma::col_major> right;
      Accumulator sum;
      wmma::fill_fragment(sum, 1.0f);
      wmma::load_matrix_sync(left, hardwarePointer(a), kFragment);
      wmma::load_matrix_sync(right, hardwarePointer(b), kFragment);
      wmma::mma_sync(sum, left, right, sum);
      wmma::store_matrix_sync(c, sum, kFragment, wmma::mem_row_major);
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < 256; i += 64) out[i] = c[i];
  });
  float seen[256];
  copyToHost(seen, buffer.get(), sizeof seen, nullptr);
  for (int row = 0; row < 16; row++) {
    for (int column = 0; column < 16; column++) {
      int expected = 1;
      for (int k = 0; k < 16; k++) expected += ((row * 16 + k) % 13 - 6) * ((column * 16 + k) % 7 - 3);
      CHECK(seen[row * 16 + column] == static_cast<float>(expected));
    }
  }
}

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

int main(int count, char** names) {
  const std::string name = count > 1 ? names[1] : "";
  for (const FaultCase& test : kFaults) {
    if (name != test.name) continue;
    // The device is as good as new after a fault.
    for (uint32_t order = 0; order < 3; order++) {
      simt::setOrder(order);
      expectFault(test.kind, [&] { test.run(true); });
      test.run(false);
    }
    return checkResult();
  }
  if (name == "refused_launches")
    refusedLaunches();
  else if (name == "memory_runs_out")
    memoryRunsOut();
  else if (name == "intrinsics")
    intrinsics();
  else if (name == "fragments")
    fragments();
  else if (name == "order_shows")
    orderShows();
  else
    CHECK(!"a known test");
  return checkResult();
}
