// Losses over the tokens of responses, value and gradient in one pass (docs/guides/loss.md has the formulas).
//
// Arithmetic: per-token terms in T, every sum in float64, over fixed blocks of counted tokens that are folded in index
// order: the same bits for every number of threads, and for a batch with its masked-out tokens left out. Masked-out
// tokens are not used and get a gradient of +0. Log-ratios are clamped to +-logRatioClamp before exp; log-probs may be
// -Infinity. Status: kOk; the flat index of a token with a NaN log-ratio or a non-finite advantage, weight, value or
// return; or kBadPromptTokens - row.
#pragma once

#include <cstdint>

#include "minform/ragged.h"

namespace minform {

enum class PolicyLoss : int32_t { ppo = 0, gspo = 1, gmpo = 2, cispo = 3, sapo = 4, reinforce = 5 };
enum class KlEstimator : int32_t { k1 = 0, k2 = 1, k3 = 2, abs = 3 };
enum class KlGradient : int32_t { same = 0, k2 = 1, importance = 2 };
enum class Correction : int32_t { truncate = 0, mask = 1 };
enum class WeightLevel : int32_t { token = 0, sequenceSum = 1, sequenceMean = 2 };
enum class AggregationMode : int32_t {
  tokenMean = 0,
  seqMeanTokenSum = 1,
  seqMeanTokenMean = 2,
  promptMean = 3,
  sum = 4
};

// Status of a response with more counted tokens than its prompt is said to have.
constexpr int64_t kBadPromptTokens = -2;

// How token losses become one number: sum_i w_i sum_t loss_it / denominator.
struct Aggregation {
  AggregationMode mode;
  const int32_t* groups;  // promptMean: prompt of each row, or null
  int64_t groupCount;
  const double* promptTokens;  // promptMean: counted tokens of each row's prompt in the whole batch, or null
  double denominator;          // NaN: the count of this batch
};

// Slots of the statistics every loss writes. kSum is undivided; kLossValue divided by the denominator.
enum LossSlot : int32_t { kLossValue, kSum, kCount, kTokens, kHighest, kLowest, kTallies };

// Sums over the counted tokens, from slot kTallies on.
enum PolicyTally : int32_t {
  kPolicyLogRatio,  // clamped
  kPolicyRatio,
  kPolicyRatioSquared,
  kPolicyK3,
  kPolicyRawLogRatio,  // what the clamp took away: sum of (raw - clamped)
  kPolicyRawRatio,
  kPolicyRawK3,
  kPolicyClipped,
  kPolicyClippedLower,
  kPolicyClamped,
  kPolicyTallies
};
enum KlTally : int32_t { kKlK1, kKlK3, kKlRawK1, kKlRawK3, kKlClamped, kKlTallies };
enum ValueTally : int32_t { kValueError, kValueSquaredError, kValueClipped, kValueTallies };
enum EntropyTally : int32_t { kEntropySum, kEntropyTallies };
enum WeightTally : int32_t {
  kWeightUnits,  // tokens, or responses with a counted token
  kWeightRaw,    // sum over units of the weight before the correction, and of its square
  kWeightRawSquared,
  kWeightCorrected,  // over units, after the correction, before normalisation
  kWeightCorrectedSquared,
  kWeightOutside,     // units outside [low, high]
  kWeightClamped,     // units whose log-weight was clamped
  kWeightOverTokens,  // sum over tokens of the corrected weight
  kWeightK1,
  kWeightK3,
  kWeightTallies
};
constexpr int kMaxTallies = 10;
constexpr int kLossSlots = kTallies + kMaxTallies;

struct PolicyParameters {
  PolicyLoss loss;
  double low, high;                 // ppo, gspo: bounds of the ratio; gmpo: of the log-ratio; cispo: of the weight
  double dualClip, maxRatio;        // ppo; +Infinity without
  double tauPositive, tauNegative;  // sapo
  double logRatioClamp;
};

template <class T>
struct PolicyInput {
  Rows rows;
  const T* logProbs;
  const T* oldLogProbs;  // null only for reinforce
  const T* advantages;   // per token, or per row
  bool advantagePerRow;
  const T* importanceWeights;  // per token, or null
  const uint8_t* mask;         // or null
};

template <class T>
struct KlInput {
  Rows rows;
  const T* logProbs;
  const T* refLogProbs;
  const T* oldLogProbs;  // or null: on-policy. Only read by KlGradient::importance
  const uint8_t* mask;
  KlEstimator estimator;
  KlGradient gradient;
  double logRatioClamp;
};

template <class T>
struct ValueInput {
  Rows rows;
  const T* values;
  const T* oldValues;  // null without clipping
  const T* returns;
  const uint8_t* mask;
  double clipRange;
};

template <class T>
struct WeightInput {
  Rows rows;
  const T* oldLogProbs;
  const T* rolloutLogProbs;
  const uint8_t* mask;
  Correction correction;
  WeightLevel level;
  double low, high, logRatioClamp;
  double normalizer;  // divides the weights; 0: their mean over the counted tokens
};

template <class T>
struct LossKernels {
  int64_t (*policy)(const PolicyParameters& parameters, const PolicyInput<T>& in, const Aggregation& aggregation,
                    T* gradLogProbs, double* slots);
  int64_t (*kl)(const KlInput<T>& in, const Aggregation& aggregation, T* values, T* gradLogProbs, double* slots);
  int64_t (*value)(const ValueInput<T>& in, const Aggregation& aggregation, T* gradValues, double* slots);
  int64_t (*entropy)(const Rows& rows, const T* entropy, const uint8_t* mask, const Aggregation& aggregation,
                     T* gradEntropy, double* slots);
  // kept: per token, 1 where the weight is in use (all counted tokens under Correction::truncate).
  int64_t (*importanceWeights)(const WeightInput<T>& in, T* weights, uint8_t* kept, double* slots);
};

template <class T>
const LossKernels<T>& loss();

}  // namespace minform
