// Reductions by fixed trees: the same bits on every run. There are no floating-point atomics.
#pragma once

#include "arithmetic/scalar.h"
#include "kernel.h"

namespace minform::cuda {

struct Sum {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Least {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return smaller(a, b);
  }
};
struct Greatest {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return larger(a, b);
  }
};

// All 32 lanes take part, all get the result. The operation must commute.
template <class Operation, class T>
__device__ __forceinline__ T warpReduce(T value, const Operation& operation) {
#pragma unroll
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    value = operation(value, __shfl_xor_sync(kAllLanes, value, distance));
  }
  return value;
}

// values[k] of all threads of the block, which are whole warps: within warps by warpReduce, then warp after warp. All
// threads get the results.
template <int kCount, class Operation, class T>
__device__ __forceinline__ void blockReduce(T (&values)[kCount], const Operation& operation) {
  SHARED(T, perWarp, kCount * kWarp);
#pragma unroll
  for (int k = 0; k < kCount; k++) {
    values[k] = warpReduce(values[k], operation);
    if (laneIndex() == 0) perWarp[k * kWarp + warpIndex()] = values[k];
  }
  __syncthreads();
  const int warps = static_cast<int>(blockDim.x) / kWarp;
#pragma unroll
  for (int k = 0; k < kCount; k++) {
    values[k] = perWarp[k * kWarp];
    for (int warp = 1; warp < warps; warp++) {
      const T other = perWarp[k * kWarp + warp];
      values[k] = operation(values[k], other);
    }
  }
  __syncthreads();  // perWarp is free for the next reduction
}

}  // namespace minform::cuda
