// What is known of a row of logits after some of them: the maximum m, and sums over y = (x - m) / temperature.
#pragma once

#include <cmath>

#include "arithmetic/scalar.h"

namespace minform {
namespace MINFORM_SPACE {

constexpr double kLog2e = 1.4426950408889634;
constexpr float kLowestLog2 = -124.0f;  // 2^y below it adds nothing to a sum of at least 1, and is not told apart

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

// Without initialisers: device kernels keep it in shared memory.
struct Partial {
  double max;
  double sum;       // of exp(y); NaN once a logit was NaN or +Infinity, 0 while all were -Infinity
  double weighted;  // of exp(y) * y
  double squares;   // of exp(y)^2

  // Moves to a maximum that is no lower.
  MINFORM_FUNCTION void rescale(double newMax, double inverseTemperature) {
    if (sum != 0) {
      const double shift = (max - newMax) * inverseTemperature, factor = ::exp(shift);
      // Far below the new maximum: 0 * -Infinity must not arise.
      weighted = factor == 0 ? 0 : (weighted + sum * shift) * factor;
      squares *= factor * factor;
      sum *= factor;
    }
    max = newMax;
  }

  MINFORM_FUNCTION void merge(Partial other, double inverseTemperature) {
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

// What a row gives once all of its logits are known.
struct RowStatistics {
  double logSum;  // log of Partial::sum
  Partial whole;
  double inverseTemperature;

  MINFORM_FUNCTION RowStatistics(const Partial& whole, double inverseTemperature)
      : logSum(::log(whole.sum)), whole(whole), inverseTemperature(inverseTemperature) {}

  MINFORM_FUNCTION double logSumExp() const { return whole.max * inverseTemperature + logSum; }
  // + 0.0: a certain token has log-prob and entropy +0.
  MINFORM_FUNCTION double logProb(double logit) const {
    return (logit - whole.max) * inverseTemperature - logSum + 0.0;
  }
  MINFORM_FUNCTION double entropy() const { return logSum - whole.weighted / whole.sum; }
  MINFORM_FUNCTION double sumSquaredProbs() const { return whole.squares / (whole.sum * whole.sum); }
};

}  // namespace MINFORM_SPACE
}  // namespace minform
