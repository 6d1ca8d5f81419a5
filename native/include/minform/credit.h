// Credit assignment over the steps of a response, and the way from steps to tokens and back.
//
// Arithmetic: every sum, product and weight is accumulated in float64 and rounded once to T. Masked-out elements read
// nothing and write +0. NaN or infinite rewards that count are reported as their flat index.
#pragma once

#include <cstdint>

#include "minform/ragged.h"

namespace minform {

enum class CreditForm : int32_t { minForm = 0, strictMinForm = 1, gammaDecay = 2, sum = 3, mean = 4, product = 5 };
enum class Place : int32_t { end = 0, span = 1 };

template <class T>
struct CreditInput {
  Rows steps;
  const T* rewards;
  const uint8_t* mask;      // per step, or null
  const int32_t* stepEnds;  // per step, token index of its last token; only gammaDecay by token, else null
  double parameter;         // minForm: temperature > 0; gammaDecay: gamma in [0, 1]; else unused
};

template <class T>
struct CreditOutput {
  T* rewards;   // per step: what the step is credited with; its reward-to-go (gamma 1) is `returns`
  T* returns;   // per step
  T* outcomes;  // per row: returns of the first counted step, 0 without one
  T* weights;   // per step, only minForm, else null
};

template <class T>
struct CreditGradients {
  const T* rewards;   // d / d output.rewards, or null
  const T* returns;   // or null
  const T* outcomes;  // or null
};

template <class T>
struct CreditKernels {
  int64_t (*assign)(CreditForm form, const CreditInput<T>& in, const CreditOutput<T>& out);

  // Vector-Jacobian product of minForm.
  int64_t (*minFormBackward)(const CreditInput<T>& in, const CreditGradients<T>& grads, T* gradStepRewards);

  // Step values onto tokens: at each step's last token, or on every token of the step. Tokens flagged in `zeroAt`
  // and masked-out tokens get +0.
  void (*placeSteps)(const Rows& tokens, const Rows& steps, const int32_t* stepEnds, const T* values, Place place,
                     const uint8_t* zeroAt, const uint8_t* mask, T* out);

  // Reward-to-go: G_t = R_t + gamma * G_next over the counted tokens of a row.
  int64_t (*returns)(const Rows& tokens, const T* rewards, const uint8_t* mask, double gamma, T* out);
};

template <class T>
const CreditKernels<T>& credit();

// Steps of tokenised responses. A token that is in `separators` or `eos` (both sorted) ends a step; the last counted
// token always does. Writes per row the rising token indices to stepEnds (capacity: one per token), their offsets to
// stepOffsets, and per token 1 to separatorTokens where it is a counted separator or EOS. Returns the number of steps.
int64_t findStepEnds(const Rows& tokens, const int32_t* ids, const uint8_t* mask, const int32_t* separators,
                     int64_t separatorCount, const int32_t* eos, int64_t eosCount, int32_t* stepEnds,
                     int32_t* stepOffsets, uint8_t* separatorTokens);

}  // namespace minform
