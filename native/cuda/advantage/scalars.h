// What the files of this family share: numbers that stay in range, as on the CPU.
#pragma once

#include <cfloat>
#include <cmath>

#include "reduce.h"
#include "rows.h"

namespace minform::cuda {

// An infinity that arose from finite numbers, brought back to the largest finite one.
__device__ __forceinline__ double finite(double x) { return clamped(x, -DBL_MAX, DBL_MAX); }

// Rounded to T without leaving its range; + 0.0 turns -0 into +0.
__device__ __forceinline__ void saturate(double x, float& to) {
  to = static_cast<float>(clamped(x, -double{FLT_MAX}, double{FLT_MAX}) + 0.0);
}
__device__ __forceinline__ void saturate(double x, double& to) { to = finite(x) + 0.0; }
template <class T>
__device__ __forceinline__ T saturated(double x) {
  T to;
  saturate(x, to);
  return to;
}

template <class T>
__device__ __forceinline__ bool isNaN(T x) {
  return x != x;
}

}  // namespace minform::cuda
