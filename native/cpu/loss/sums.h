// Sums over a block of tokens.
#pragma once

#include "lanes.h"

namespace minform {
namespace MINFORM_ISA {

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
