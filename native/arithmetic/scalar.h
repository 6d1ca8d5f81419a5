// Comparisons, and numbers that stay in range.
#pragma once

#include <cfloat>
#include <cstdint>
#include <cstring>

#include "arithmetic/space.h"

namespace minform {
namespace MINFORM_SPACE {

template <class T>
MINFORM_FUNCTION T smaller(T a, T b) {
  return b < a ? b : a;
}

template <class T>
MINFORM_FUNCTION T larger(T a, T b) {
  return a < b ? b : a;
}

// x limited to [low, high]; NaN stays NaN.
template <class T>
MINFORM_FUNCTION T clamped(T x, T low, T high) {
  return x < low ? low : (high < x ? high : x);
}

template <class T>
MINFORM_FUNCTION bool isNaN(T x) {
  return x != x;
}

template <class T>
MINFORM_FUNCTION bool isFinite(T x) {
  return x - x == 0;
}

// An infinity that arose from finite numbers, brought back to the largest finite one.
MINFORM_FUNCTION double finite(double x) { return clamped(x, -DBL_MAX, DBL_MAX); }

// Rounded to the second argument's type without leaving its range; + 0.0 turns -0 into +0.
MINFORM_FUNCTION float saturated(double x, float) {
  return static_cast<float>(clamped(x, -double{FLT_MAX}, double{FLT_MAX}) + 0.0);
}
MINFORM_FUNCTION double saturated(double x, double) { return finite(x) + 0.0; }

template <class To, class From>
MINFORM_FUNCTION To sameBits(From from) {
  static_assert(sizeof(To) == sizeof(From), "the same bits");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

}  // namespace MINFORM_SPACE
}  // namespace minform
