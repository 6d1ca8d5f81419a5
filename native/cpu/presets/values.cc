// Aggregation alone, KL estimates, and the value loss.
#include "aggregate.h"

namespace minform {
namespace MINFORM_ISA {
namespace peers {
namespace {

inline bool within(double x, double bound) { return x >= -bound && x <= bound; }

// Value and slope of an estimate at d = log p - log p_ref. The slope is what back-propagation through the peer's own
// expression gives: 0 beyond a clamp, and NaN where 0 meets an overflow.
template <class T>
void klTerm(const PeerKlRule& rule, double d, double* value, double* slope) {
  switch (rule.form) {
    case PeerKlForm::k1:
      *value = d;
      *slope = 1;
      break;
    case PeerKlForm::abs:
      *value = d < 0 ? -d : d;
      *slope = (d > 0) - (d < 0);
      break;
    case PeerKlForm::k2:
      *value = 0.5 * d * d;
      *slope = d;
      break;
    case PeerKlForm::k3: {
      const double bounded = clamped(-d, -rule.inputClamp, rule.inputClamp);
      const double ratio = expAs<T>(bounded);
      *value = ratio - bounded - 1;
      const double passing = within(*value, rule.outputClamp) ? 1 : 0;
      *slope = within(-d, rule.inputClamp) ? -(passing * ratio - passing) : 0;
      break;
    }
  }
  if (rule.form != PeerKlForm::k3 && !within(*value, rule.outputClamp)) *slope = 0;
  *value = clamped(*value, -rule.outputClamp, rule.outputClamp);
  if (rule.gradientOfK2 != 0) *slope = d;
}

}  // namespace

template <class T>
double aggregate(const PaddedShape& shape, const PeerAggregateRule& rule, const T* losses) {
  RowWeights weights(shape, rule);
  return sumRows(shape, [&](int64_t row) {
    return weights.rowLoss(shape, row, [&](int64_t i) { return static_cast<double>(losses[i]); });
  });
}

template <class T>
void kl(const PaddedShape& shape, const PeerKlRule& rule, const T* logProbs, const T* refLogProbs, T* values,
        T* slopes) {
  forRows(shape, [&](int64_t row) {
    for (int64_t i = row * shape.width; i < (row + 1) * shape.width; i++) {
      double value = 0, slope = 0;
      klTerm<T>(rule, static_cast<double>(logProbs[i]) - refLogProbs[i], &value, &slope);
      values[i] = static_cast<T>(value + 0.0);
      slopes[i] = shape.mask[i] != 0 ? static_cast<T>(slope + 0.0) : T(0);
    }
  });
}

template <class T>
PeerPolicyStats valueLoss(const PaddedShape& shape, const PeerValueRule& rule, const PeerAggregateRule& aggregate,
                          double countEpsilon, const T* predicted, const T* old, const T* returns, T* gradient) {
  RowWeights weights(shape, aggregate);
  Scratch<double> clipped(shape.rows);
  const double loss = sumRows(shape, [&](int64_t row) {
    clipped[row] = 0;
    for (int64_t i = row * shape.width; i < (row + 1) * shape.width; i++) gradient[i] = T(0);
    return weights.rowLoss(shape, row, [&](int64_t i) {
      const double v = predicted[i], target = returns[i];
      double error = (v - target) * (v - target), slope = 2 * (v - target);
      if (rule.clipRange >= 0) {
        const double low = static_cast<double>(old[i]) - rule.clipRange,
                     high = static_cast<double>(old[i]) + rule.clipRange;
        const double bounded = clamped(v, low, high);
        const bool atBound = rule.splitAtBounds != 0 && (v == low || v == high);
        const double passing = !(v >= low && v <= high) ? 0 : (atBound ? 0.5 : 1);
        const double boundedError = (bounded - target) * (bounded - target);
        const double boundedSlope = passing * 2 * (bounded - target);
        clipped[row] += shape.mask[i] != 0 && boundedError > error;
        if (boundedError == error) {
          slope = 0.5 * (slope + boundedSlope);
        } else if (boundedError > error || boundedError != boundedError) {
          error = boundedError;
          slope = boundedSlope;
        }
      }
      if (shape.mask[i] != 0) gradient[i] = static_cast<T>(0.5 * weights[row] * slope + 0.0);
      return 0.5 * error;
    });
  });
  double clippedTokens = 0;
  for (int64_t row = 0; row < shape.rows; row++) clippedTokens += clipped[row];
  return {loss, clippedTokens / (tokenCount(shape) + countEpsilon), 0, 0};
}

#define MINFORM_INSTANTIATE(T)                                                                                   \
  template double aggregate(const PaddedShape&, const PeerAggregateRule&, const T*);                             \
  template void kl(const PaddedShape&, const PeerKlRule&, const T*, const T*, T*, T*);                           \
  template PeerPolicyStats valueLoss(const PaddedShape&, const PeerValueRule&, const PeerAggregateRule&, double, \
                                     const T*, const T*, const T*, T*);
MINFORM_INSTANTIATE(float)
MINFORM_INSTANTIATE(double)

}  // namespace peers
}  // namespace MINFORM_ISA
}  // namespace minform
