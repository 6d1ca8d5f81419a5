// The terms of one tile of a row, from registers to a Partial.
#pragma once

#include "arithmetic/partial.h"
#include "elements.h"

namespace minform::cuda {

template <class Element, bool Squares>
struct TileScan {
  using Real = Wide<Element>;
  BaseTwo units;
  double inverseTemperature;

  explicit TileScan(double inverseTemperature) : units(inverseTemperature), inverseTemperature(inverseTemperature) {}

  struct Terms {
    Real sum = 0, weighted = 0, squares = 0;
  };

  __device__ __forceinline__ void add(float x, float max, Terms& to) const {
    const float y = (x - max) * units.factor, e = fastExp2(y);
    to.sum += e;
    to.weighted = fmaf(e, fmaxf(y, kLowestLog2), to.weighted);  // y may be -Infinity where e is 0
    if (Squares) to.squares = fmaf(e, e, to.squares);
  }
  __device__ __forceinline__ void add(double x, double max, Terms& to) const {
    const double y = (x - max) * inverseTemperature, e = exp(y);
    to.sum += e;
    to.weighted += e == 0 ? 0 : e * y;
    if (Squares) to.squares += e * e;
  }

  __device__ __forceinline__ Partial partial(float max, const double (&sums)[3]) const {
    const double natural = sums[1] * units.toNatural;
    // 2^(y * factor) is exp(y (1 + drift)): taken out of the sum to first order.
    return {max, sums[0] - units.drift * natural, natural, sums[2]};
  }
  __device__ __forceinline__ Partial partial(double max, const double (&sums)[3]) const {
    return {max, sums[0], sums[1], sums[2]};
  }

  // Of the packs of all threads of the block; all get the result.
  template <int kCount>
  __device__ __forceinline__ Partial of(const Pack<Element> (&packs)[kCount]) const {
    Real max[1] = {sizeof(Real) == sizeof(float) ? static_cast<Real>(-FLT_MAX) : static_cast<Real>(-DBL_MAX)};
#pragma unroll
    for (int p = 0; p < kCount; p++) {
#pragma unroll
      for (int i = 0; i < Pack<Element>::kSize; i++) max[0] = larger(max[0], widen(packs[p].at[i]));
    }
    blockReduce(max, Greatest());

    double sums[3] = {};
#pragma unroll
    for (int p = 0; p < kCount; p++) {
      Terms terms;  // at most 8 in float32 before they are added in float64
#pragma unroll
      for (int i = 0; i < Pack<Element>::kSize; i++) add(widen(packs[p].at[i]), max[0], terms);
      sums[0] += terms.sum;
      sums[1] += terms.weighted;
      if (Squares) sums[2] += terms.squares;
    }
    blockReduce(sums, Sum());
    return partial(max[0], sums);
  }
};

}  // namespace minform::cuda
