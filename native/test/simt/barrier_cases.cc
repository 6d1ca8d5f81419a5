// Barriers that not every thread of a block reaches, or not the same one.
#include "cases.h"

namespace minform::cuda {
namespace {

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

}  // namespace

Cases barrierCases() {
  return {
      {"barrier_at_two_sites", caught<FaultKind::divergentBarrier, barrierAtTwoSites>},
      {"barrier_after_exit", caught<FaultKind::divergentBarrier, barrierAfterExit>},
      {"barrier_in_warp_call", caught<FaultKind::warpMask, barrierInWarpCall>},
  };
}

}  // namespace minform::cuda
