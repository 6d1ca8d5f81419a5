/* Advantages of responses and of their tokens. */
#ifndef MINFORM_C_API_ADVANTAGE_H
#define MINFORM_C_API_ADVANTAGE_H

#include "minform/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The groups in which responses are compared. */
typedef struct minform_groups {
  const int32_t* index; /* per row, in [0, count) */
  int64_t count;
  int32_t raw_singletons; /* 1: a response alone in its group keeps its reward; 0: it gets 0 */
  int32_t exclude_nan;    /* 1: a NaN reward leaves its row out; 0: it is a bad value */
} minform_groups;

/* How the groups of a batch were made up, at the side of the call. */
typedef struct minform_group_stats {
  int64_t groups, singletons, zero_variance, excluded, first_singleton /* row, or -1 */;
} minform_group_stats;

typedef enum minform_outcome_form {
  MINFORM_RLOO = 0,   /* reward less the mean of the others */
  MINFORM_GRPO = 1,   /* (reward - mean) / (std + epsilon) */
  MINFORM_PASS_K = 2, /* the best one's lead over the second, over (std + epsilon) */
  MINFORM_OPO = 3     /* reward less the length-weighted mean; needs lengths */
} minform_outcome_form;
typedef enum minform_group_std { MINFORM_STD_NONE = 0, MINFORM_STD_GROUP = 1, MINFORM_STD_BATCH = 2 } minform_group_std;

/* An advantage per response from a reward per response. std: of GRPO, and NONE or GROUP of PASS_K. */
MINFORM_API minform_error minform_outcomes(const minform_call* call, minform_dtype dtype, minform_outcome_form form,
                                           minform_group_std std, double epsilon, int32_t ddof /* 0 or 1 */,
                                           int64_t rows, const void* rewards, const double* lengths /* or NULL */,
                                           const minform_groups* groups, void* advantages,
                                           minform_group_stats* stats /* or NULL */);

/* What the rewards of a token are compared with in the other responses of the group. */
typedef enum minform_baseline {
  MINFORM_BASELINE_OUTCOME = 0,
  MINFORM_BASELINE_RETURNS = 1,
  MINFORM_BASELINE_STEP = 2,
  MINFORM_BASELINE_TOKEN = 3
} minform_baseline;
typedef struct minform_baseline_rule {
  minform_baseline baseline;
  int32_t count_separators; /* TOKEN: 1: a step's last token counts in the length of its step */
  double min_tokens;        /* TOKEN: a shorter response counts as this long */
} minform_baseline_rule;

/* Leave-one-out over token rewards, less kl_coefficient * kl. step_ends (per step, the index within its row of its last
 * token, rising) for the STEP and TOKEN baselines; NULL makes every counted token a step. kl_after_baseline 1: the
 * baseline is of the rewards without KL. */
MINFORM_API minform_error minform_token_rloo(
    const minform_call* call, minform_dtype dtype, const minform_baseline_rule* rule, int64_t rows, int64_t total,
    const int32_t* offsets, const void* rewards, const uint8_t* mask /* or NULL */, int64_t total_steps,
    const int32_t* step_offsets /* beside step_ends */, const int32_t* step_ends /* or NULL */,
    const void* kl /* or NULL */, double kl_coefficient, int32_t kl_after_baseline, const minform_groups* groups,
    void* advantages, void* returns /* or NULL */, minform_group_stats* stats /* or NULL */);

/* The same over step rewards. */
MINFORM_API minform_error minform_step_rloo(const minform_call* call, minform_dtype dtype,
                                            const minform_baseline_rule* rule, int64_t rows, int64_t total,
                                            const int32_t* offsets, int64_t total_steps, const int32_t* step_offsets,
                                            const int32_t* step_ends, const void* step_rewards,
                                            const uint8_t* mask /* per token, or NULL */, const minform_groups* groups,
                                            void* advantages, void* returns /* or NULL */,
                                            minform_group_stats* stats /* or NULL */);

/* returns: G_t = R_t + gamma G_next over the counted tokens; advantages: G_t less the row's baseline. */
MINFORM_API minform_error minform_reward_to_go(const minform_call* call, minform_dtype dtype, double gamma,
                                               int64_t rows, int64_t total, const int32_t* offsets, const void* rewards,
                                               const uint8_t* mask /* or NULL */,
                                               const void* baselines /* per row, or NULL */, void* advantages,
                                               void* returns);

/* Generalised advantage estimation; returns take value_lambda. bootstrap: the value after the last token. */
MINFORM_API minform_error minform_gae(const minform_call* call, minform_dtype dtype, double gamma, double lambda,
                                      double value_lambda, int64_t rows, int64_t total, const int32_t* offsets,
                                      const void* rewards, const void* values, const uint8_t* mask /* or NULL */,
                                      const void* bootstrap /* per row, or NULL */, void* advantages, void* returns);

/* Reward-to-go less the baseline that minimises the variance of the gradient, per token position of a group. */
MINFORM_API minform_error minform_optimal_baseline(const minform_call* call, minform_dtype dtype, double gamma,
                                                   int64_t rows, int64_t total, const int32_t* offsets,
                                                   const void* rewards, const void* log_probs,
                                                   const void* sum_squared_probs, const uint8_t* mask /* or NULL */,
                                                   const minform_groups* groups, void* advantages, void* returns,
                                                   minform_group_stats* stats /* or NULL */);

/* (x - mean) / sqrt(variance + epsilon) over the counted values; shift_mean 0 adds the mean again. `out` may be
 * `values`. */
MINFORM_API minform_error minform_whiten(const minform_call* call, minform_dtype dtype, int32_t shift_mean,
                                         double epsilon, int32_t ddof /* 0 or 1 */, int64_t count, const void* values,
                                         const uint8_t* mask /* or NULL */, void* out);

typedef enum minform_spread { MINFORM_ON_LAST = 0, MINFORM_ON_EVERY = 1 } minform_spread;

/* out = base + scale * per_row, on the last counted token of a row or on all. `out` may be `base`. */
MINFORM_API minform_error minform_add_per_row(const minform_call* call, minform_dtype dtype, minform_spread spread,
                                              double scale, int64_t rows, int64_t total, const int32_t* offsets,
                                              const void* base /* or NULL for 0 */, const void* per_row,
                                              const uint8_t* mask /* or NULL */, void* out);

/* Verifiable rewards as they are added: 1 and 0 give 1 + shift and 0 + shift, NaN (no answer known) 0. */
MINFORM_API minform_error minform_code_verifiable(const minform_call* call, minform_dtype dtype, double shift,
                                                  int64_t rows, const void* verifiable, void* out);

/* The mask without the tokens of rows whose reward is NaN. */
MINFORM_API minform_error minform_scorable_tokens(const minform_call* call, minform_dtype dtype, int64_t rows,
                                                  int64_t total, const int32_t* offsets, const void* rewards,
                                                  const uint8_t* mask /* or NULL */, uint8_t* out);

/* out = rewards - coefficient * kl. `out` may be either. */
MINFORM_API minform_error minform_kl_reward(const minform_call* call, minform_dtype dtype, double coefficient,
                                            int64_t rows, int64_t total, const int32_t* offsets, const void* rewards,
                                            const void* kl, const uint8_t* mask /* or NULL */, void* out);

#ifdef __cplusplus
}
#endif

#endif
