// What is known of a row after some of its logits: the maximum m, and sums over y = (x - m) / temperature.
#pragma once

#include "elements.h"
#include "lanes.h"
#include "minform/logprob.h"

namespace minform {
namespace MINFORM_ISA {

constexpr double kLog2e = 1.4426950408889634;

// y in units that float32 lanes work in: log2 e * y = (x - m) * factor.
struct BaseTwo {
  float factor;
  double toNatural;  // y over its base-two value
  double drift;      // what rounding the factor adds to it, relatively

  explicit BaseTwo(double inverseTemperature)
      : factor(static_cast<float>(inverseTemperature * kLog2e)),
        toNatural(inverseTemperature / factor),
        drift(1 / (toNatural * kLog2e) - 1) {}
};

constexpr float kLowestLog2 = -124.0f;  // 2^y below it adds nothing to a sum of at least 1, and is not told apart
constexpr float kFaintest = 1e-18f;     // its square is still a normal number, and adds nothing either
constexpr int kTerms = 8;               // float32 additions per lane before they are folded into float64
constexpr int64_t kGroup = kLanes * kTerms;

struct Partial {
  double max = -HUGE_VAL;
  double sum = 0;       // of exp(y); NaN once a logit was NaN or +Infinity
  double weighted = 0;  // of exp(y) * y
  double squares = 0;   // of exp(y)^2

  // Moves to a maximum that is no lower.
  void rescale(double newMax, double inverseTemperature) {
    if (sum != 0) {
      const double shift = (max - newMax) * inverseTemperature, factor = ::exp(shift);
      // Far below the new maximum: 0 * -Infinity must not arise.
      weighted = factor == 0 ? 0 : (weighted + sum * shift) * factor;
      squares *= factor * factor;
      sum *= factor;
    }
    max = newMax;
  }

  void merge(Partial other, double inverseTemperature) {
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

  // False for a row without a defined distribution.
  template <class T>
  bool finish(int64_t row, double targetLogit, double inverseTemperature, const LogProbOutput<T>& out) const {
    const double logSum = ::log(sum);
    out.logSumExp[row] = max * inverseTemperature + logSum;
    // + 0.0: a certain token has log-prob and entropy +0.
    out.logProbs[row] = static_cast<T>((targetLogit - max) * inverseTemperature - logSum + 0.0);
    if (out.entropy != nullptr) {
      const double entropy = logSum - weighted / sum;
      // In float32 logits of -Infinity count as 2^-124 each: all of them together stay below this.
      const double faint = sizeof(T) == sizeof(float) ? 0x1p-80 : 0;
      out.entropy[row] = entropy > faint || isNaN(entropy) ? static_cast<T>(entropy) : T(0);
    }
    if (out.sumSquaredProbs != nullptr) out.sumSquaredProbs[row] = static_cast<T>(squares / (sum * sum));
    return sum > 0;
  }
};

}  // namespace MINFORM_ISA
}  // namespace minform
