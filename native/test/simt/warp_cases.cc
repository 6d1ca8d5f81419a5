// Warps: calls whose lanes are not the ones of the mask; what shuffles, votes, reductions and fragments give.
#include "cases.h"
#include "fragments.h"
#include "reduce.h"

namespace minform::cuda {
namespace {

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

}  // namespace

Cases warpCases() {
  return {
      {"shuffle_from_exited", caught<FaultKind::warpMask, shuffleFromExited>},
      {"shuffle_outside_mask", caught<FaultKind::warpMask, shuffleOutsideMask>},
      {"shuffle_of_missing_lanes", caught<FaultKind::warpMask, shuffleOfMissingLanes>},
      {"shuffle_without_self", caught<FaultKind::warpMask, shuffleWithoutSelf>},
      {"intrinsics", intrinsics},
      {"fragments", fragments},
  };
}

}  // namespace minform::cuda
