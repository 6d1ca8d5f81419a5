// The limits of sums over logits on the CPU, and what a row gives.
#pragma once

#include "arithmetic/partial.h"
#include "elements.h"
#include "lanes.h"
#include "minform/logprob.h"

namespace minform {
namespace MINFORM_ISA {

constexpr float kFaintest = 1e-18f;  // its square is still a normal number, and adds nothing to a sum of at least 1
constexpr int kTerms = 8;            // float32 additions per lane before they are folded into float64
constexpr int64_t kGroup = kLanes * kTerms;

constexpr Partial kNothing{-HUGE_VAL, 0, 0, 0};

// False for a row without a defined distribution.
template <class T>
bool writeRow(const Partial& whole, int64_t row, double targetLogit, double inverseTemperature,
              const LogProbOutput<T>& out) {
  const RowStatistics found(whole, inverseTemperature);
  out.logSumExp[row] = found.logSumExp();
  out.logProbs[row] = static_cast<T>(found.logProb(targetLogit));
  if (out.entropy != nullptr) {
    const double entropy = found.entropy();
    // In float32 logits of -Infinity count as 2^-124 each: all of them together stay below this.
    const double faint = sizeof(T) == sizeof(float) ? 0x1p-80 : 0;
    out.entropy[row] = entropy > faint || isNaN(entropy) ? static_cast<T>(entropy) : T(0);
  }
  if (out.sumSquaredProbs != nullptr) out.sumSquaredProbs[row] = static_cast<T>(found.sumSquaredProbs());
  return whole.sum > 0;
}

}  // namespace MINFORM_ISA
}  // namespace minform
