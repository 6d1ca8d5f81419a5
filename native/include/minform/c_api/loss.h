/* Losses over the tokens of responses, value and gradient in one pass. */
#ifndef MINFORM_C_API_LOSS_H
#define MINFORM_C_API_LOSS_H

#include "minform/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How token losses become one number, sum_i w_i sum_t loss_it / denominator, with L_i the counted tokens of row i. */
typedef enum minform_aggregation_mode {
  MINFORM_TOKEN_MEAN = 0,          /* w = 1; denominator: counted tokens */
  MINFORM_SEQ_MEAN_TOKEN_SUM = 1,  /* w = 1; denominator: rows with a counted token */
  MINFORM_SEQ_MEAN_TOKEN_MEAN = 2, /* w = 1 / L_i; the same denominator */
  MINFORM_PROMPT_MEAN = 3,         /* w = 1 / (counted tokens of the row's prompt); denominator: prompts */
  MINFORM_SUM_OF_TOKENS = 4        /* w = 1; denominator 1 */
} minform_aggregation_mode;

typedef struct minform_aggregation {
  minform_aggregation_mode mode;
  const int32_t* groups; /* PROMPT_MEAN: the prompt of each row, in [0, group_count), or NULL */
  int64_t group_count;
  const double* prompt_tokens; /* PROMPT_MEAN: counted tokens of each row's whole prompt, or NULL */
  double denominator;          /* NAN: the count of this batch; parts of a batch pass that of the whole */
} minform_aggregation;

/* What a loss writes into `slots`, MINFORM_LOSS_SLOTS numbers at the side of the call. From MINFORM_SLOT_TALLIES on
 * there are sums over the counted tokens, in the order of PolicyTally, KlTally, ValueTally, EntropyTally and
 * WeightTally of minform/loss.h. */
enum {
  MINFORM_SLOT_LOSS = 0,    /* divided by the denominator */
  MINFORM_SLOT_SUM = 1,     /* undivided */
  MINFORM_SLOT_COUNT = 2,   /* what a call with denominator NAN divides by */
  MINFORM_SLOT_TOKENS = 3,  /* counted tokens */
  MINFORM_SLOT_HIGHEST = 4, /* log-ratio before the clamp, of losses that have one */
  MINFORM_SLOT_LOWEST = 5,
  MINFORM_SLOT_TALLIES = 6,
  MINFORM_LOSS_SLOTS = 16
};

typedef enum minform_policy_loss_form {
  MINFORM_PPO = 0,      /* low, high: bounds of the ratio, e.g. 0.8 and 1.2; dual_clip, max_ratio */
  MINFORM_GSPO = 1,     /* low, high: bounds of the ratio of the response */
  MINFORM_GMPO = 2,     /* low, high: bounds of the log-ratio, e.g. -0.4 and 0.4 */
  MINFORM_CISPO = 3,    /* low, high: bounds of the weight */
  MINFORM_SAPO = 4,     /* tau_positive, tau_negative */
  MINFORM_REINFORCE = 5 /* no old log-probs */
} minform_policy_loss_form;

typedef struct minform_policy_parameters {
  minform_policy_loss_form form;
  double low, high;                  /* see the form */
  double dual_clip, max_ratio;       /* PPO; INFINITY without */
  double tau_positive, tau_negative; /* SAPO, in (0, 80] */
  double log_ratio_clamp;            /* log-ratios are clamped to +- this, in (0, 80]; usually 20 */
} minform_policy_parameters;

/* A policy loss and its gradient with respect to log_probs. The status is the flat index of a bad token, or -2 - row
 * where a prompt has fewer tokens than its row (likewise below). */
MINFORM_API minform_error minform_policy_loss(
    const minform_call* call, minform_dtype dtype, const minform_policy_parameters* parameters,
    const minform_aggregation* aggregation, int64_t rows, int64_t total, const int32_t* offsets, const void* log_probs,
    const void* old_log_probs /* NULL only for REINFORCE */, const void* advantages,
    int32_t advantage_per_row /* 1: one per row, 0: one per token */, const void* importance_weights /* or NULL */,
    const uint8_t* mask /* or NULL */, void* grad_log_probs, double* slots);

typedef enum minform_kl_estimator {
  MINFORM_K1 = 0,
  MINFORM_K2 = 1,
  MINFORM_K3 = 2,
  MINFORM_K_ABS = 3
} minform_kl_estimator;
typedef enum minform_kl_gradient {
  MINFORM_KL_GRADIENT_SAME = 0, /* of the estimator */
  MINFORM_KL_GRADIENT_K2 = 1,   /* straight-through to k2's */
  MINFORM_KL_GRADIENT_IMPORTANCE = 2
} minform_kl_gradient;

/* KL(policy || reference) per token, its aggregate, and the gradient with respect to log_probs. */
MINFORM_API minform_error minform_kl(const minform_call* call, minform_dtype dtype, minform_kl_estimator estimator,
                                     minform_kl_gradient gradient, double log_ratio_clamp,
                                     const minform_aggregation* aggregation, int64_t rows, int64_t total,
                                     const int32_t* offsets, const void* log_probs, const void* ref_log_probs,
                                     const void* old_log_probs /* or NULL: on-policy */,
                                     const uint8_t* mask /* or NULL */, void* values, void* grad_log_probs,
                                     double* slots);

/* Half the squared error of a value function, clipped to clip_range around old_values where those are given. */
MINFORM_API minform_error minform_value_loss(const minform_call* call, minform_dtype dtype, double clip_range,
                                             const minform_aggregation* aggregation, int64_t rows, int64_t total,
                                             const int32_t* offsets, const void* values,
                                             const void* old_values /* or NULL: no clipping */, const void* returns,
                                             const uint8_t* mask /* or NULL */, void* grad_values, double* slots);

/* The entropy bonus as a loss: minus the aggregate of entropies per token, and its gradient with respect to them. */
MINFORM_API minform_error minform_entropy(const minform_call* call, minform_dtype dtype,
                                          const minform_aggregation* aggregation, int64_t rows, int64_t total,
                                          const int32_t* offsets, const void* entropy,
                                          const uint8_t* mask /* or NULL */, void* grad_entropy, double* slots);

typedef enum minform_correction {
  MINFORM_TRUNCATE = 0, /* weights are limited to [low, high] */
  MINFORM_MASK_OUT = 1  /* those outside become 0 */
} minform_correction;
typedef enum minform_weight_level {
  MINFORM_PER_TOKEN = 0,
  MINFORM_SEQUENCE_SUM = 1, /* one weight per row, of the sum of its log-ratios */
  MINFORM_SEQUENCE_MEAN = 2
} minform_weight_level;

/* Weights exp(old - rollout) per token; kept: 1 where a weight is in use. normalizer divides them; 0: their mean. */
MINFORM_API minform_error minform_importance_weights(const minform_call* call, minform_dtype dtype,
                                                     minform_correction correction, minform_weight_level level,
                                                     double low, double high, double log_ratio_clamp, double normalizer,
                                                     int64_t rows, int64_t total, const int32_t* offsets,
                                                     const void* old_log_probs, const void* rollout_log_probs,
                                                     const uint8_t* mask /* or NULL */, void* weights, uint8_t* kept,
                                                     double* slots);

#ifdef __cplusplus
}
#endif

#endif
