// The gradient of one row with respect to its logits: with p = exp(z - logSumExp), over the temperature,
//   g_logProb (e_target - p) - g_entropy p (log p + H) = e_target g_logProb + p (a + b log p).
#pragma once

#include "arithmetic/partial.h"
#include "elements.h"
#include "minform/logprob.h"

namespace minform::cuda {

// The gradient of one row. Off the target it is p * (constant + slope * log p), log p = (x - offset) / T.
struct RowGradient {
  double entropy, gradLogProb, gradEntropy, inverseTemperature, offset, constant, slope;

  __device__ __forceinline__ double at(double logit, double& probability) const {
    const double y = (logit - offset) * inverseTemperature, p = exp(y);
    probability += p;
    return p == 0 ? 0.0 : p * (constant + slope * y) + 0.0;
  }

  __device__ __forceinline__ double atTarget(double logit) const {
    if (logit == -HUGE_VAL) return 0;
    const double y = (logit - offset) * inverseTemperature, p = exp(y);
    const double fromEntropy = p == 0 ? 0 : p * (y + entropy);
    return (-gradLogProb * expm1(y) - gradEntropy * fromEntropy) * inverseTemperature + 0.0;
  }

  __device__ __forceinline__ bool finite() const { return constant - constant == 0 && slope - slope == 0; }
};

// RowGradient::at in float32. `offset` is split in two so that x - offset loses nothing.
struct FloatGradient {
  float high, low, factor, constant, slope;

  __device__ __forceinline__ explicit FloatGradient(const RowGradient& g)
      : high(static_cast<float>(g.offset)),
        low(static_cast<float>(g.offset - high)),
        factor(static_cast<float>(g.inverseTemperature * kLog2e)),
        constant(static_cast<float>(g.constant)),
        slope(static_cast<float>(g.slope / kLog2e)) {}

  __device__ __forceinline__ float at(float x, float& probability) const {
    // A probability above 2 is of a logSumExp that is not this row's: the sum of the probabilities shows it.
    const float exact = ((x - high) - low) * factor, y = exact > 1.0f ? 1.0f : exact;
    const float p = y < kLowestLog2 ? 0.0f : fastExp2(y);
    probability += p;
    return p * fmaf(fmaxf(y, kLowestLog2), slope, constant) + 0.0f;  // + 0 turns -0 into +0
  }
};

template <class T>
struct Upstream {
  Global<const double> logSumExp;
  Global<const T> entropy, gradLogProbs, gradEntropy;
  double temperature;

  explicit Upstream(const LogProbGradients<T>& in, double temperature)
      : logSumExp(in.logSumExp),
        entropy(in.entropy),
        gradLogProbs(in.gradLogProbs),
        gradEntropy(in.gradEntropy),
        temperature(temperature) {}

  __device__ __forceinline__ RowGradient of(int64_t row) const {
    RowGradient g{};
    g.inverseTemperature = 1 / temperature;
    g.gradLogProb = static_cast<double>(gradLogProbs[row]);
    if (gradEntropy != nullptr) {
      g.entropy = static_cast<double>(entropy[row]);
      g.gradEntropy = static_cast<double>(gradEntropy[row]);
    }
    g.offset = logSumExp[row] * temperature;
    g.constant = -(g.gradLogProb + g.gradEntropy * g.entropy) * g.inverseTemperature;
    g.slope = -g.gradEntropy * g.inverseTemperature;
    return g;
  }
};

// The gradients of a pack of logits that starts at `column`; adds up their probabilities.
template <class T, class Element>
__device__ __forceinline__ Pack<Element> spreadPack(const RowGradient& g, const Pack<Element>& from, int64_t column,
                                                    int64_t target, double& sum) {
  constexpr int kSize = Pack<Element>::kSize;
  Pack<Element> to;
  if constexpr (sizeof(T) == sizeof(double)) {
#pragma unroll
    for (int i = 0; i < kSize; i++) to.at[i] = g.at(from.at[i], sum);
  } else {
    const FloatGradient floats(g);
    float probability = 0;
#pragma unroll
    for (int i = 0; i < kSize; i++) narrow(floats.at(widen(from.at[i]), probability), to.at[i]);
    sum += probability;
  }
  if (target < column || target >= column + kSize) return to;
#pragma unroll
  for (int i = 0; i < kSize; i++) {
    if (column + i == target) narrow(g.atTarget(widen(from.at[i])), to.at[i]);
  }
  return to;
}

}  // namespace minform::cuda
