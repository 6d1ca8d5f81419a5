// The arithmetic of other projects, for lib/presets: padded batches, masks that multiply, denominators read off the
// shape. Every kernel is one rule with its peers' parameters; which peer uses which is in lib/presets.
//
// Arithmetic: float64 inside, rounded once to T, in index order. The one exception is group statistics: sums of a
// group's scores are kept in T, because the residue of float32 sums is a quirk the peers' users see.
// Unlike the other families, padding is read, NaN is not an error and 0 / 0 is NaN: that is what the peers compute.
#pragma once

#include <cstdint>

namespace minform {

struct PaddedShape {
  const uint8_t* mask;  // rows x width, 0 or 1
  int64_t rows, width;

  int64_t total() const { return rows * width; }
};

struct PeerGroupShape {
  const int32_t* group;  // per row, in [0, groups)
  int64_t rows, groups;
};

// How a reward-to-go treats the mask.
struct PeerReturnRule {
  int32_t smallest;     // suffix minimum instead of discounted suffix sum
  int32_t maskRewards;  // rewards are multiplied by the mask first
  int32_t maskCarry;    // what is carried to the previous token is multiplied by this token's mask
  int32_t maskResult;   // the result is multiplied by the mask
  double gamma;
};

enum class PeerMaskUse : int32_t {
  ignore = 0,    // padding and holes are tokens like others
  multiply = 1,  // rewards and values are multiplied by the mask
  carry = 2,     // masked tokens pass the recursion on
};

struct PeerWhitenRule {
  int32_t select;       // sums leave masked values out; else they are multiplied by 0
  int32_t unbiased;     // variance times n / (n - 1)
  int32_t clampFloor;   // 1 / sqrt(max(variance, floor)); else 1 / sqrt(variance + floor)
  int32_t maskResult;   // the result is multiplied by the mask; else values outside the mask are whitened too
  double countEpsilon;  // added to the number of tokens
  double floor;
};

enum class PeerGroupForm : int32_t { centre = 0, scale = 1, leaveOneOut = 2, passK = 3 };
enum class PeerSingletonForm : int32_t {
  raw = 0,
  zero = 1,
  same = 2
};  // mean 0 and std 1; result 0; as any other group

struct PeerGroupRule {
  PeerGroupForm form;  // scale: divided by std + epsilon
  PeerSingletonForm singleton;
  int32_t batchStd;  // the std is over the whole batch
  double epsilon;
  double factor;  // of the result
};

enum class PeerTokenLoss : int32_t { clip = 0, softGate = 1, logProb = 2, clippedWeight = 3 };
// GSPO's token form; one ratio per row, from the mean or from the sum of its log-ratios.
enum class PeerRatioLevel : int32_t { token = 0, sequenceToken = 1, sequence = 2, sequenceSum = 3 };

struct PeerPolicyRule {
  PeerTokenLoss loss;
  PeerRatioLevel level;
  double logLow, logHigh;  // log-ratios are clamped to this range
  double low, high;        // bounds of the ratio
  double dualClip;         // c > 1 for negative advantages, 0 for none
  double delta;            // the unclipped ratio is clamped to at most this
  double tauPositive, tauNegative;
  int32_t rowAdvantages;  // one advantage per row instead of one per token
  double countEpsilon;    // of the means in the statistics
};

enum class PeerRowDivisor : int32_t { none = 0, length = 1, lengthAtLeastOne = 2, lengthPlusEpsilon = 3 };
enum class PeerBatchDivisor : int32_t {
  tokens = 0,
  tokensAtLeastOne = 1,
  tokensPlusEpsilon = 2,
  countedRows = 3,
  rows = 4,
  one = 5
};

// loss = (1 / (scale * batch divisor)) sum over rows of (1 / row divisor) sum of loss * mask. Rows without a token are
// left out, or count with what 0 / divisor is; under PeerRatioLevel::sequenceSum they count with a ratio of 1.
struct PeerAggregateRule {
  PeerRowDivisor row;
  PeerBatchDivisor batch;
  int32_t select;     // masked losses are left out; else they are multiplied by 0
  int32_t skipEmpty;  // rows without a token are left out
  double scale;
};

struct PeerPolicyStats {
  double loss, clipFraction, clipFractionLower, kl;
};

enum class PeerKlForm : int32_t { k1 = 0, abs = 1, k2 = 2, k3 = 3 };

struct PeerKlRule {
  PeerKlForm form;
  int32_t gradientOfK2;  // straight-through: the value of `form`, the gradient of k2
  double inputClamp, outputClamp;
};

struct PeerValueRule {
  double clipRange;       // negative for none
  int32_t splitAtBounds;  // half the gradient passes at an exact bound, as through min and max; else all of it
};

template <class T>
struct PresetKernels {
  // out[row] = sum of the row, over all its width or over the masked product.
  void (*rowSums)(const PaddedShape& shape, const T* values, bool masked, T* out);
  // out[i] = rowValues[row] * mask[i]
  void (*spread)(const PaddedShape& shape, const T* rowValues, T* out);
  // out[i] = values[i] - rowValues[row] * weights[i], weights null meaning 1; where `only` is 0, values[i] or +0.
  void (*subtractRows)(const PaddedShape& shape, const T* values, const T* rowValues, const T* weights,
                       const uint8_t* only, bool keepElsewhere, T* out);
  // values[row, last masked token] += rowValues[row]; the last column in a row without one.
  void (*addAtLast)(const PaddedShape& shape, const T* rowValues, T* values);
  // Per step end: masked tokens after the previous step end and before this one.
  void (*stepTokens)(const PaddedShape& shape, const uint8_t* stepEnds, T* out);

  void (*returns)(const PaddedShape& shape, const PeerReturnRule& rule, const T* rewards, T* out);
  void (*gae)(const PaddedShape& shape, PeerMaskUse use, const T* rewards, const T* values, double gamma, double lambda,
              T* advantages, T* returns);
  // False when the mask has fewer than two tokens and the rule is unbiased.
  bool (*whiten)(const PaddedShape& shape, const PeerWhitenRule& rule, const T* values, T* out);

  void (*groupScores)(const PeerGroupShape& groups, const PeerGroupRule& rule, const T* scores, T* out);
  // out[i] = (sum of the group's a - a_i) / (sum of the group's b - b_i); b null counts rows.
  void (*othersRatio)(const PeerGroupShape& groups, const T* a, const T* b, T* out);
  // out[i] = sum of weight * score / sum of weight over the group; 0 in a group of one.
  void (*weightedMeans)(const PeerGroupShape& groups, const T* scores, const T* weights, T* out);

  PeerPolicyStats (*policyLoss)(const PaddedShape& shape, const PeerPolicyRule& rule,
                                const PeerAggregateRule& aggregate, const T* logProbs, const T* oldLogProbs,
                                const T* advantages, T* gradient);
  // GMPO: the clip is in log space with bounds rule.low and rule.high; the mean is over all rows.
  PeerPolicyStats (*geometricMeanLoss)(const PaddedShape& shape, const PeerPolicyRule& rule, const T* logProbs,
                                       const T* oldLogProbs, const T* advantages, T* gradient);
  double (*aggregate)(const PaddedShape& shape, const PeerAggregateRule& rule, const T* losses);
  void (*kl)(const PaddedShape& shape, const PeerKlRule& rule, const T* logProbs, const T* refLogProbs, T* values,
             T* slopes);
  // Half the aggregated squared error; stats: loss and clipFraction.
  PeerPolicyStats (*valueLoss)(const PaddedShape& shape, const PeerValueRule& rule, const PeerAggregateRule& aggregate,
                               double countEpsilon, const T* predicted, const T* old, const T* returns, T* gradient);
};

template <class T>
const PresetKernels<T>& presets();

}  // namespace minform
