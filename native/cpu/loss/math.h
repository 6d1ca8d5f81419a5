// Scalar pieces of the losses that lane loops vectorise.
#pragma once

#include "lanes.h"

namespace minform {
namespace MINFORM_ISA {

// exp(x) - 1 - x >= 0, where e = exp(x): the k3 estimator of KL at log-ratio x. Straight-line for float32; near 0 a
// Taylor polynomial (its rest is below half an ulp on [-1, 1]), since the difference has no digits there.
inline float expRest(float x, float e) {
  float p = 2.0876757e-9f;  // 1/12!
  p = p * x + 2.5052108e-8f;
  p = p * x + 2.7557319e-7f;
  p = p * x + 2.7557319e-6f;
  p = p * x + 2.4801587e-5f;
  p = p * x + 1.9841270e-4f;
  p = p * x + 1.3888889e-3f;
  p = p * x + 8.3333333e-3f;
  p = p * x + 4.1666667e-2f;
  p = p * x + 1.6666667e-1f;
  p = p * x + 0.5f;
  const float near = p * x * x, far = (e - 1.0f) - x;
  return -1.0f < x && x < 1.0f ? near : far;
}

// float64: expm1 has the digits down to about |x| = 1e-3; below, the first terms do.
inline double expRest(double x, double) {
  if (-1e-2 < x && x < 1e-2) {
    const double p = 1 / 2.0 + x * (1 / 6.0 + x * (1 / 24.0 + x * (1 / 120.0 + x * (1 / 720.0 + x * (1 / 5040.0)))));
    return p * x * x;
  }
  return ::expm1(x) - x;
}

// exp(x) - 1, where e = exp(x).
inline float expMinusOne(float x, float e) {
  const float near = x + expRest(x, e), far = e - 1.0f;
  return -1.0f < x && x < 1.0f ? near : far;
}
inline double expMinusOne(double x, double) { return ::expm1(x); }

// Log-probs enter a value limited to +- this: a loss of -A log pi stays finite where log pi is -Infinity.
constexpr double kLargestLogProb = 1e4;

// Sum of x[0 .. count) in float64, in lanes.
template <class T>
inline double sumOf(const T* x, int count) {
  double lanes[kLanes] = {};
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; lane++) lanes[lane] += static_cast<double>(x[i + lane]);
  }
  for (int lane = 0; i + lane < count; lane++) lanes[lane] += static_cast<double>(x[i + lane]);
  return foldLanes(lanes);
}

template <class T>
inline double sumOfSquares(const T* x, int count) {
  double lanes[kLanes] = {};
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; lane++) {
      const double value = static_cast<double>(x[i + lane]);
      lanes[lane] += value * value;
    }
  }
  for (int lane = 0; i + lane < count; lane++) {
    const double value = static_cast<double>(x[i + lane]);
    lanes[lane] += value * value;
  }
  return foldLanes(lanes);
}

}  // namespace MINFORM_ISA
}  // namespace minform
