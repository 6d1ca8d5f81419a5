// exp and what is left of it, straight-line in float32 so that loops over lanes vectorise.
#pragma once

#include <cmath>

#include "arithmetic/scalar.h"

namespace minform {
namespace MINFORM_SPACE {

// Within 1.5 ulp on [-87.3, 88.7]; 0 below (no denormals), +Infinity above, NaN for NaN.
MINFORM_FUNCTION float expOf(float x) {
  const float low = -87.33654f, high = 88.72283f;
  const float y = clamped(x, low, high);
  const float shifter = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer in the low mantissa bits
  const float scaled = y * 1.44269504f + shifter;
  const float n = scaled - shifter;
  // ln 2 in two pieces, the first with few enough bits for n * piece to be exact.
  const float r = (y - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = (p * r) * r + r + 1.0f;
  const int32_t exponent = sameBits<int32_t>(scaled) - 0x4B400000;
  // 2^n in two factors: n reaches 128, one more than a float exponent holds.
  const int32_t half = exponent >> 1;
  // Unsigned: for a NaN the exponent is junk, and shifting a negative number is undefined.
  const float first = sameBits<float>(static_cast<uint32_t>(half + 127) << 23);
  const float second = sameBits<float>(static_cast<uint32_t>(exponent - half + 127) << 23);
  const float value = (p * first) * second;
  const float finite = x < low ? 0.0f : (high < x ? HUGE_VALF : value);
  return x != x ? x : finite;
}

// float64: the C library's, the reference mode.
MINFORM_FUNCTION double expOf(double x) { return ::exp(x); }

// exp(x) - 1 - x >= 0, where e = exp(x): the k3 estimator of KL at log-ratio x. In float32 a Taylor polynomial near 0
// (its rest is below half an ulp on [-1, 1]), since the difference has no digits there.
MINFORM_FUNCTION float expRest(float x, float e) {
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
MINFORM_FUNCTION double expRest(double x, double) {
  if (-1e-2 < x && x < 1e-2) {
    const double p = 1 / 2.0 + x * (1 / 6.0 + x * (1 / 24.0 + x * (1 / 120.0 + x * (1 / 720.0 + x * (1 / 5040.0)))));
    return p * x * x;
  }
  return ::expm1(x) - x;
}

// exp(x) - 1, where e = exp(x).
MINFORM_FUNCTION float expMinusOne(float x, float e) {
  const float near = x + expRest(x, e), far = e - 1.0f;
  return -1.0f < x && x < 1.0f ? near : far;
}
MINFORM_FUNCTION double expMinusOne(double x, double) { return ::expm1(x); }

// How much larger exp(d) - 1 - d is than at the clamped c.
MINFORM_FUNCTION double restBeyond(double d, double c) {
  const double e = ::exp(d);
  return (e == HUGE_VAL ? e : e - 1 - d) - (::exp(c) - 1 - c);
}

}  // namespace MINFORM_SPACE
}  // namespace minform
