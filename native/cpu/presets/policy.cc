// Policy losses with their gradient. Where a peer takes max or min of two terms and both are equal, each gets half the
// gradient, as in torch; at a bound of a clamp the gradient passes.
#include "aggregate.h"

namespace minform {
namespace MINFORM_ISA {
namespace peers {
namespace {

inline bool within(double x, double low, double high) { return x >= low && x <= high; }

struct Term {
  double loss, slope;  // slope: d loss / d log-ratio, or d loss / d log-prob for the weighted log-probs
  bool clipped, clippedLower;
};

// The larger (sign 1) or smaller (sign -1) of two terms; NaN wins.
inline void keepExtreme(double sign, double otherLoss, double otherSlope, double* loss, double* slope) {
  const double difference = sign * (*loss - otherLoss);
  if (*loss == otherLoss) {
    *slope = 0.5 * (*slope + otherSlope);
  } else if (!(difference > 0) && *loss == *loss) {
    *loss = otherLoss;
    *slope = otherSlope;
  }
}

inline Term clipTerm(const PeerPolicyRule& rule, double ratio, double advantage) {
  const double unclipped = rule.delta < ratio ? rule.delta : ratio;
  Term term;
  term.loss = -advantage * unclipped;
  term.slope = ratio <= rule.delta ? -advantage * ratio : 0;
  const double bounded = -advantage * clamped(ratio, rule.low, rule.high);
  const double boundedSlope = within(ratio, rule.low, rule.high) ? -advantage * ratio : 0;
  term.clipped = bounded > term.loss;
  term.clippedLower = false;
  keepExtreme(1, bounded, boundedSlope, &term.loss, &term.slope);
  if (rule.dualClip > 0 && advantage < 0) {
    const double limit = -advantage * rule.dualClip;
    term.clippedLower = term.loss > limit;
    keepExtreme(-1, limit, 0, &term.loss, &term.slope);
  }
  return term;
}

inline Term softGateTerm(const PeerPolicyRule& rule, double ratio, double advantage) {
  const double tau = advantage > 0 ? rule.tauPositive : rule.tauNegative;
  const double gate = 1 / (1 + ::exp(-tau * (ratio - 1)));
  return {-(gate * (4 / tau)) * advantage, -advantage * 4 * gate * (1 - gate) * ratio, false, false};
}

inline Term termOf(const PeerPolicyRule& rule, double ratio, double logProb, double advantage) {
  switch (rule.loss) {
    case PeerTokenLoss::clip:
      return clipTerm(rule, ratio, advantage);
    case PeerTokenLoss::softGate:
      return softGateTerm(rule, ratio, advantage);
    case PeerTokenLoss::logProb:
      return {-logProb * advantage, -advantage, false, false};
    case PeerTokenLoss::clippedWeight: {
      const double weight = clamped(ratio, rule.low, rule.high);
      return {-weight * advantage * logProb, -weight * advantage, ratio != weight, false};
    }
  }
  return {0, 0, false, false};
}

struct RowResult {
  double loss = 0, clipped = 0, clippedLower = 0, kl = 0;
};

}  // namespace

template <class T>
PeerPolicyStats policyLoss(const PaddedShape& shape, const PeerPolicyRule& rule, const PeerAggregateRule& aggregate,
                           const T* logProbs, const T* oldLogProbs, const T* advantages, T* gradient) {
  RowWeights weights(shape, aggregate);
  Scratch<RowResult> results(shape.rows);
  const bool onRatio = rule.loss == PeerTokenLoss::clip || rule.loss == PeerTokenLoss::softGate;
  const bool shared = rule.level == PeerRatioLevel::sequence || rule.level == PeerRatioLevel::sequenceSum;
  forRows(shape, [&](int64_t row) {
    const int64_t begin = row * shape.width, end = begin + shape.width;
    RowResult result;
    double sequence = 0;
    const int64_t tokens = rowLength(shape, row);
    const double length = rule.level == PeerRatioLevel::sequenceSum ? 1 : larger(static_cast<double>(tokens), 1.0);
    for (int64_t i = begin; i < end; i++)
      sequence += (static_cast<double>(logProbs[i]) - oldLogProbs[i]) * shape.mask[i];
    sequence /= length;
    double reaching = 0;  // gradient that reaches a ratio shared by the row
    result.loss = weights.rowLoss(shape, row, [&](int64_t i) {
      const double logProb = logProbs[i];
      const double token = logProb - oldLogProbs[i];
      const double logRatio =
          rule.level == PeerRatioLevel::token ? token : (shared ? sequence : (logProb - logProb) + sequence);
      const double bounded = clamped(logRatio, rule.logLow, rule.logHigh);
      const double advantage = advantages[rule.rowAdvantages != 0 ? row : i];
      Term term = termOf(rule, expAs<T>(bounded), logProb, advantage);
      if (onRatio && !within(logRatio, rule.logLow, rule.logHigh)) term.slope = 0;
      if (shape.mask[i] != 0) {
        result.clipped += term.clipped;
        result.clippedLower += term.clippedLower;
        result.kl -= rule.level == PeerRatioLevel::token ? bounded : token;
        reaching += weights[row] * term.slope;
        gradient[i] = static_cast<T>(weights[row] * term.slope + 0.0);
      }
      return term.loss;
    });
    if (tokens == 0 && rule.level == PeerRatioLevel::sequenceSum) {
      result.loss = weights[row] * termOf(rule, 1, 0, advantages[rule.rowAdvantages != 0 ? row : begin]).loss;
    }
    for (int64_t i = begin; i < end; i++) {
      if (shape.mask[i] == 0) {
        gradient[i] = T(0);
      } else if (shared) {
        gradient[i] = static_cast<T>(reaching / length + 0.0);
      }
    }
    results[row] = result;
  });
  RowResult sum;
  for (int64_t row = 0; row < shape.rows; row++) {
    sum.loss += results[row].loss;
    sum.clipped += results[row].clipped;
    sum.clippedLower += results[row].clippedLower;
    sum.kl += results[row].kl;
  }
  const double count = tokenCount(shape) + rule.countEpsilon;
  return {sum.loss, sum.clipped / count, sum.clippedLower / count, sum.kl / count};
}

template <class T>
PeerPolicyStats geometricMeanLoss(const PaddedShape& shape, const PeerPolicyRule& rule, const T* logProbs,
                                  const T* oldLogProbs, const T* advantages, T* gradient) {
  Scratch<RowResult> results(shape.rows);
  forRows(shape, [&](int64_t row) {
    const int64_t begin = row * shape.width, end = begin + shape.width;
    RowResult result;
    const double length = static_cast<double>(rowLength(shape, row)) + 1e-8;
    double logRatio = 0, advantage = 0;
    for (int64_t i = begin; i < end; i++) {
      const double a = advantages[i], x = static_cast<double>(logProbs[i]) - oldLogProbs[i];
      const double sign = (a > 0) - (a < 0), bounded = clamped(x, rule.low, rule.high);
      double kept = sign * x, slope = sign;
      keepExtreme(-1, sign * bounded, within(x, rule.low, rule.high) ? sign : 0, &kept, &slope);
      logRatio += sign * kept * shape.mask[i];
      advantage += a * shape.mask[i];
      gradient[i] = static_cast<T>(sign * slope);
      if (shape.mask[i] == 0) continue;
      result.clipped += x != bounded && a > 0;
      result.clippedLower += x != bounded && a < 0;
      result.kl -= x;
    }
    const double ratio = expAs<T>(logRatio / length);
    result.loss = -(advantage / length) * ratio;
    const double perToken = result.loss / length / static_cast<double>(shape.rows);
    for (int64_t i = begin; i < end; i++) {
      gradient[i] = shape.mask[i] == 0 ? T(0) : static_cast<T>(perToken * gradient[i] + 0.0);
    }
    results[row] = result;
  });
  RowResult sum;
  for (int64_t row = 0; row < shape.rows; row++) {
    sum.loss += results[row].loss;
    sum.clipped += results[row].clipped;
    sum.clippedLower += results[row].clippedLower;
    sum.kl += results[row].kl;
  }
  const double count = tokenCount(shape) + rule.countEpsilon;
  return {sum.loss / static_cast<double>(shape.rows), sum.clipped / count, sum.clippedLower / count, sum.kl / count};
}

#define MINFORM_INSTANTIATE(T)                                                                                        \
  template PeerPolicyStats policyLoss(const PaddedShape&, const PeerPolicyRule&, const PeerAggregateRule&, const T*,  \
                                      const T*, const T*, T*);                                                        \
  template PeerPolicyStats geometricMeanLoss(const PaddedShape&, const PeerPolicyRule&, const T*, const T*, const T*, \
                                             T*);
MINFORM_INSTANTIATE(float)
MINFORM_INSTANTIATE(double)

}  // namespace peers
}  // namespace MINFORM_ISA
}  // namespace minform
