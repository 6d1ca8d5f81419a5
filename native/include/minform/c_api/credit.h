/* Credit assignment over the steps of responses. */
#ifndef MINFORM_C_API_CREDIT_H
#define MINFORM_C_API_CREDIT_H

#include "minform/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum minform_credit_form {
  MINFORM_MIN_FORM = 0,        /* parameter: temperature > 0 */
  MINFORM_STRICT_MIN_FORM = 1, /* parameter: unused, as for the forms below that do not say otherwise */
  MINFORM_GAMMA_DECAY = 2,     /* parameter: gamma in [0, 1]; by token with step_ends */
  MINFORM_SUM = 3,
  MINFORM_MEAN = 4,
  MINFORM_PRODUCT = 5
} minform_credit_form;

/* Per step: credited rewards and returns; per row: outcomes; per step and only of MIN_FORM: weights, or NULL. */
MINFORM_API minform_error minform_credit(const minform_call* call, minform_dtype dtype, minform_credit_form form,
                                         double parameter, int64_t rows, int64_t total, const int32_t* offsets,
                                         const void* step_rewards, const uint8_t* mask /* or NULL */,
                                         const int32_t* step_ends /* or NULL */, void* rewards, void* returns,
                                         void* outcomes, void* weights);

/* Gradient of MIN_FORM with respect to the step rewards; at least one of the upstream gradients. */
MINFORM_API minform_error minform_min_form_backward(const minform_call* call, minform_dtype dtype, double temperature,
                                                    int64_t rows, int64_t total, const int32_t* offsets,
                                                    const void* step_rewards, const uint8_t* mask /* or NULL */,
                                                    const void* grad_rewards /* or NULL */,
                                                    const void* grad_returns /* or NULL */,
                                                    const void* grad_outcomes /* or NULL */, void* grad_step_rewards);

/* Reward-to-go over the counted tokens. */
MINFORM_API minform_error minform_returns(const minform_call* call, minform_dtype dtype, double gamma, int64_t rows,
                                          int64_t total, const int32_t* offsets, const void* rewards,
                                          const uint8_t* mask /* or NULL */, void* returns);

typedef enum minform_place {
  MINFORM_AT_END = 0,   /* the value of a step at its last token */
  MINFORM_OVER_SPAN = 1 /* on every token of it */
} minform_place;

/* Step values onto tokens: `out`, one per token. step_ends: per step, the index within its row of its last token,
 * rising. Tokens flagged in zero_at and masked-out tokens get 0. */
MINFORM_API minform_error minform_place_steps(const minform_call* call, minform_dtype dtype, minform_place place,
                                              int64_t rows, int64_t total_tokens, const int32_t* token_offsets,
                                              int64_t total_steps, const int32_t* step_offsets,
                                              const int32_t* step_ends, const void* values,
                                              const uint8_t* zero_at /* per token, or NULL */,
                                              const uint8_t* mask /* per token, or NULL */, void* out);

#ifdef __cplusplus
}
#endif

#endif
