// Flat arrays as the optimiser's kernels walk them: a grid of fixed size strides over the elements.
#pragma once

#include "elements.h"
#include "launch.h"
#include "reduce.h"
#include "rows.h"

namespace minform::cuda {

constexpr int kStrideThreads = 256;

// Blocks enough for `count` elements, at most as many as keep a large GPU busy.
inline Shape strided(int64_t count) {
  const int64_t wanted = ceilDivide(count, kStrideThreads);
  return {wanted < 8192 ? wanted : 8192, kStrideThreads};
}

// body(i) for the elements of this thread.
template <class Body>
__device__ __forceinline__ void eachStrided(int64_t count, const Body& body) {
  const int64_t stride = int64_t{gridDim.x} * kStrideThreads;
  for (int64_t i = elementOfThread(); i < count; i += stride) body(i);
}

__device__ __forceinline__ double valueOr(const Global<const double>& scalar, double otherwise) {
  return scalar == nullptr ? otherwise : static_cast<double>(scalar[0]);
}

}  // namespace minform::cuda
