// What is known of a row after some of its logits: the maximum m, and sums over y = (x - m) / temperature. The same
// arithmetic as native/cpu/logprob/partial.h.
#pragma once

#include <cfloat>
#include <cmath>

#include "reduce.h"

namespace minform::cuda {

constexpr double kLog2e = 1.4426950408889634;
constexpr float kLowestLog2 = -124.0f;  // 2^y below it adds nothing to a sum of at least 1

// y in the units that float32 terms work in: log2 e * y = (x - m) * factor.
struct BaseTwo {
  float factor;
  double toNatural;  // y over its base-two value
  double drift;      // what rounding the factor adds to it, relatively

  explicit BaseTwo(double inverseTemperature)
      : factor(static_cast<float>(inverseTemperature * kLog2e)),
        toNatural(inverseTemperature / factor),
        drift(1 / (toNatural * kLog2e) - 1) {}
};

struct Partial {
  double max;
  double sum;       // of exp(y); NaN once a logit was NaN or +Infinity, 0 while all were -Infinity
  double weighted;  // of exp(y) * y
  double squares;   // of exp(y)^2

  // Moves to a maximum that is no lower.
  __device__ void rescale(double newMax, double inverseTemperature) {
    if (sum != 0) {
      const double shift = (max - newMax) * inverseTemperature, factor = exp(shift);
      // Far below the new maximum: 0 * -Infinity must not arise.
      weighted = factor == 0 ? 0 : (weighted + sum * shift) * factor;
      squares *= factor * factor;
      sum *= factor;
    }
    max = newMax;
  }

  __device__ void merge(Partial other, double inverseTemperature) {
    if (sum != sum) return;
    if (other.sum != other.sum) {
      sum = other.sum;
      return;
    }
    if (other.max > max) {
      rescale(other.max, inverseTemperature);
    } else if (other.max < max) {
      other.rescale(max, inverseTemperature);
    }
    sum += other.sum;
    weighted += other.weighted;
    squares += other.squares;
  }
};

}  // namespace minform::cuda
