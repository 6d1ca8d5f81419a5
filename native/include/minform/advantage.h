// Advantages: what a response, or a token of it, is worth beside its group.
//
// Arithmetic: float64 throughout, rounded once to T. A result that leaves T's range saturates at T's largest value, so
// no input of finite numbers gives NaN or infinity. Sums run in the order of the tokens (or of the rows in a group),
// whatever the number of threads. Masked-out tokens read nothing and write +0. A value that counts and is NaN or
// infinite is reported as its flat index.
#pragma once

#include <cstdint>

#include "minform/ragged.h"

namespace minform {

// Which group each response is in, as dense indices, and what happens where a group has nothing to compare with.
struct Groups {
  const int32_t* index;  // one per row, in [0, count)
  int64_t count;
  bool rawSingletons;  // a response without siblings keeps its own reward; else its advantage is 0
  bool excludeNaN;     // a NaN reward takes its row out of the group; else it is an error
};

struct GroupStats {
  int64_t groups = 0;
  int64_t singletons = 0;       // groups in which one response alone takes part
  int64_t zeroVariance = 0;     // groups of two or more that all have the same reward
  int64_t excluded = 0;         // responses taken out for a NaN
  int64_t firstSingleton = -1;  // row of the first singleton
};

enum class OutcomeForm : int32_t { rloo = 0, grpo = 1, passK = 2, opo = 3 };
enum class GroupStd : int32_t { none = 0, group = 1, batch = 2 };

struct OutcomeRule {
  OutcomeForm form;
  GroupStd std;    // grpo; passK: none or group
  double epsilon;  // added to the standard deviation
  int32_t ddof;    // 0 or 1
};

template <class T>
struct OutcomeInput {
  const T* rewards;       // one per row
  const double* lengths;  // opo: one per row, else null
  int64_t rows;
};

enum class Baseline : int32_t { outcome = 0, returns = 1, step = 2, token = 3 };

struct BaselineRule {
  Baseline baseline;
  bool countSeparators;  // token: a step's last token counts in the length of its step
  double minTokens;      // token: a shorter sibling counts as this long
};

// Rewards on tokens. stepEnds (token index within its row, rising) is read by the step and token baselines only; null
// makes every counted token a step.
template <class T>
struct TokenRewards {
  Rows tokens;
  const T* rewards;
  const uint8_t* mask;  // per token, or null
  Rows steps;
  const int32_t* stepEnds;  // or null
  const T* kl;              // per token, or null: klCoefficient * kl is taken off the reward
  double klCoefficient;
  bool klAfterBaseline;  // the baseline is of the rewards without KL
};

// Rewards on steps: each stands at its step's last token.
template <class T>
struct StepRewards {
  Rows tokens;
  Rows steps;
  const T* rewards;         // per step
  const int32_t* stepEnds;  // per step
  const uint8_t* mask;      // per token, or null
};

template <class T>
struct GaeInput {
  Rows tokens;
  const T* rewards;
  const T* values;
  const uint8_t* mask;
  const T* bootstrap;  // value after the last token, one per row, or null for 0
  double gamma, lambda, valueLambda;
};

template <class T>
struct OptimalBaselineInput {
  Rows tokens;
  const T* rewards;
  const T* logProbs;
  const T* sumSquaredProbs;
  const uint8_t* mask;
  double gamma;
};

struct WhitenRule {
  bool shiftMean;
  double epsilon;  // added to the variance
  int32_t ddof;
};

// Where a value per response lands: on the last counted token or on every counted one.
enum class Spread : int32_t { last = 0, every = 1 };

template <class T>
struct AdvantageKernels {
  int64_t (*outcomes)(const OutcomeRule& rule, const OutcomeInput<T>& in, const Groups& groups, T* out,
                      GroupStats* stats);

  // Leave-one-out advantages of every token; `returns` may be null.
  int64_t (*tokenRloo)(const BaselineRule& rule, const TokenRewards<T>& in, const Groups& groups, T* advantages,
                       T* returns, GroupStats* stats);
  int64_t (*stepRloo)(const BaselineRule& rule, const StepRewards<T>& in, const Groups& groups, T* advantages,
                      T* returns, GroupStats* stats);

  // returns: G_t = R_t + gamma G_next over the counted tokens; advantages: G_t less the row's baseline (null for 0).
  int64_t (*rewardToGo)(const Rows& tokens, const T* rewards, const uint8_t* mask, double gamma, const T* baselines,
                        T* advantages, T* returns);

  int64_t (*gae)(const GaeInput<T>& in, T* advantages, T* returns);

  int64_t (*optimalBaseline)(const OptimalBaselineInput<T>& in, const Groups& groups, T* advantages, T* returns,
                             GroupStats* stats);

  // (x - mean) / sqrt(variance + epsilon) over the counted elements. `out` may be `values`.
  int64_t (*whiten)(const WhitenRule& rule, int64_t count, const T* values, const uint8_t* mask, T* out);

  // out = base + scale * perRow at the tokens of `spread`; base null stands for 0. `out` may be `base`.
  int64_t (*addPerRow)(const Rows& tokens, const T* base, const T* perRow, double scale, Spread spread,
                       const uint8_t* mask, T* out);

  // Verifiable rewards as they are added: 1 and 0 give 1 + shift and 0 + shift, NaN (no answer known) gives 0. Anything
  // else is reported as its row.
  int64_t (*codeVerifiable)(int64_t rows, const T* verifiable, double shift, T* out);

  // The mask without the tokens of rows whose reward is NaN; kOk.
  int64_t (*scorableTokens)(const Rows& tokens, const T* rewards, const uint8_t* mask, uint8_t* out);

  // out = rewards - coefficient * kl. `out` may be either.
  int64_t (*klReward)(const Rows& tokens, const T* rewards, const T* kl, double coefficient, const uint8_t* mask,
                      T* out);
};

template <class T>
const AdvantageKernels<T>& advantage();

}  // namespace minform
