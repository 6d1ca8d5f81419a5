// Linear recurrences over the tokens of a row, in whichever direction, 32 tokens at a time with one per lane.
#pragma once

#include "reduce.h"
#include "rows.h"

namespace minform::cuda {

// x -> slope * x + value: what a run of tokens does to what comes before it in the recurrence.
struct Affine {
  double slope, value;

  __device__ __forceinline__ double operator()(double x) const { return finite(value + slope * x); }
};

// The maps of this lane and all lanes before it, composed. Overflow saturates.
__device__ __forceinline__ Affine scanLanes(Affine map) {
#pragma unroll
  for (int distance = 1; distance < kWarp; distance *= 2) {
    const double slope = __shfl_up_sync(kAllLanes, map.slope, distance);
    const double value = __shfl_up_sync(kAllLanes, map.value, distance);
    if (laneIndex() >= distance) map = {map.slope * slope, map(value)};
  }
  return map;
}

// The recurrence at every lane, and `tail` moved on past the last lane.
__device__ __forceinline__ double advance(const Affine& own, double& tail) {
  const double value = scanLanes(own)(tail);
  tail = __shfl_sync(kAllLanes, value, kWarp - 1);
  return value;
}

}  // namespace minform::cuda
