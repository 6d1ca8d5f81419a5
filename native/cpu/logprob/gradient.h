// The gradient of one row, shared by the passes over logits and over tiles of them.
#pragma once

#include "elements.h"
#include "partial.h"
#include "vectors.h"

namespace minform {
namespace MINFORM_ISA {

struct RowGradient {
  double logSumExp, entropy, gradLogProb, gradEntropy, inverseTemperature;
  double offset, constant, slope;  // gradient off the target: p * (constant + slope * log p), log p = (x - offset) / T

  template <class T>
  RowGradient(const LogProbGradients<T>& in, int64_t row, double temperature)
      : logSumExp(in.logSumExp[row]),
        entropy(in.gradEntropy == nullptr ? 0 : static_cast<double>(in.entropy[row])),
        gradLogProb(in.gradLogProbs[row]),
        gradEntropy(in.gradEntropy == nullptr ? 0 : static_cast<double>(in.gradEntropy[row])),
        inverseTemperature(1 / temperature),
        offset(logSumExp * temperature),
        constant(-(gradLogProb + gradEntropy * entropy) * inverseTemperature),
        slope(-gradEntropy * inverseTemperature) {}

  double logProb(double logit) const { return (logit - offset) * inverseTemperature; }

  // Off the target, in float64.
  double at(double logit, double* probability) const {
    const double y = logProb(logit), p = ::exp(y);
    *probability += p;
    return p == 0 ? 0.0 : p * (constant + slope * y) + 0.0;
  }

  double atTarget(double logit) const {
    if (logit == -HUGE_VAL) return 0;
    const double y = logProb(logit), p = ::exp(y);
    const double fromEntropy = p == 0 ? 0 : p * (y + entropy);
    return (-gradLogProb * ::expm1(y) - gradEntropy * fromEntropy) * inverseTemperature + 0.0;
  }

  // Whether the row's probabilities add up to 1 and its upstream gradients are finite.
  bool plausible(double probability) const {
    return probability > 0.99 && probability < 1.01 && constant - constant == 0 && slope - slope == 0;
  }
};

// RowGradient::at for lanes of one row or of many, in float32. `offset` is split in two so that x - offset loses
// nothing.
struct GradientVectors {
  FloatVector high, low, factor, constant, slope;

  GradientVectors() = default;
  explicit GradientVectors(const RowGradient& g) {
    for (int lane = 0; lane < kFloats; lane++) set(lane, g);
  }

  void set(int lane, const RowGradient& g) {
    high[lane] = static_cast<float>(g.offset);
    low[lane] = static_cast<float>(g.offset - high[lane]);
    factor[lane] = static_cast<float>(g.inverseTemperature * kLog2e);
    constant[lane] = static_cast<float>(g.constant);
    slope[lane] = static_cast<float>(g.slope / kLog2e);
  }

  template <bool Entropy>
  FloatVector at(FloatVector x, FloatVector* probability) const {
    // A probability above 2 is of a logSumExp that is not this row's: the sum of the probabilities shows it.
    const FloatVector y = smallerLanes(allLanes(1.0f), ((x - high) - low) * factor);
    const FloatVector inRange = largerLanes(allLanes(kLowestLog2), y);
    const FloatVector p = y < kLowestLog2 ? FloatVector{} : exp2InRange(inRange);
    *probability += p;
    return p * (Entropy ? inRange * slope + constant : constant) + 0.0f;  // + 0 turns -0 into +0
  }
};

// Gradients of `count` logits (a multiple of kGroup) of a row; adds the probabilities to kLanes lanes.
template <bool Entropy>
inline void gradientBlock(const float* x, int64_t count, const GradientVectors& g, float* out, double* lanes) {
  for (int64_t group = 0; group < count; group += kGroup) {
    for (int piece = 0; piece < kLanes; piece += kFloats) {
      FloatVector probability = {};
#pragma GCC unroll 8
      for (int term = 0; term < kTerms; term++) {
        const int64_t at = group + term * kLanes + piece;
        storeLanes(out + at, g.at<Entropy>(loadLanes(x + at), &probability));
      }
      foldInto(lanes + piece, probability);
    }
  }
}

}  // namespace MINFORM_ISA
}  // namespace minform
