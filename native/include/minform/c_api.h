/* The kernels for callers in any language: plain C, raw pointers, sizes, a stream. Built as libminform.so
 * (-DMINFORM_C_API=ON).
 *
 * Every function works on host memory or on the memory of a CUDA device: all arrays of a call are on the side that its
 * minform_call names, small structs and scalars are on the host. Arrays are dense; a ragged array of `rows` rows is
 * its data and rows + 1 offsets, which start at 0, never fall and end at `total`, the length of the data. Offsets,
 * indices and targets are trusted: those on the host are checked, those on the device are not, except for targets.
 * Pointers marked "or NULL" may be left out. What is computed, and how precisely, is in the headers of the families:
 * minform/credit.h, advantage.h, logprob.h, loss.h, optim.h, and their twins in minform/cuda/.
 *
 * Thread safety: any function may be called from any thread.
 */
#ifndef MINFORM_C_API_H
#define MINFORM_C_API_H

#include <stdint.h>

#if defined(_WIN32)
#define MINFORM_API __declspec(dllexport)
#else
#define MINFORM_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when something is added; the major part (the hundreds) when something that was there changes. */
#define MINFORM_C_API_VERSION 100

typedef enum minform_error {
  MINFORM_OK = 0,
  MINFORM_BAD_VALUE = 1,    /* a value that must be finite is not; its index is in the call's status */
  MINFORM_BAD_ARGUMENT = 2, /* a pointer, size, offset or number that makes no sense */
  MINFORM_NO_DEVICE = 3,
  MINFORM_OUT_OF_MEMORY = 4,
  MINFORM_DEVICE_LOST = 5,
  MINFORM_FAILED = 6
} minform_error;

typedef enum minform_device { MINFORM_HOST = 0, MINFORM_CUDA = 1 } minform_device;

/* Types of values. Logits, hidden states and weights may be any; everything else float32 or float64. */
typedef enum minform_dtype {
  MINFORM_FLOAT32 = 0,
  MINFORM_FLOAT64 = 1,
  MINFORM_BFLOAT16 = 2,
  MINFORM_FLOAT16 = 3
} minform_dtype;

/* Where a call runs. */
typedef struct minform_call {
  minform_device device;
  void* stream; /* CUDA: a cudaStream_t, NULL for the default stream; host: unused */
  /* Receives -1 or the index of the first bad value, at the side of the call. CUDA: with it the call does not wait, and
   * a bad value is only told here; NULL: the call waits for the stream and returns MINFORM_BAD_VALUE itself. */
  int64_t* status;
} minform_call;

/* MINFORM_C_API_VERSION of the library. */
MINFORM_API int32_t minform_version(void);

/* What went wrong in the last call of this thread that did not return MINFORM_OK; valid until the next call. */
MINFORM_API const char* minform_last_error(void);

/* Number of CUDA devices that work; `reason` (or NULL) receives why it is 0. Never fails. */
MINFORM_API int32_t minform_cuda_devices(char* reason, uint64_t capacity);

/* Threads of host calls, for the process; at least 1. */
MINFORM_API minform_error minform_set_num_threads(int32_t threads);

/* -- credit ------------------------------------------------------------------------------------------------------ */

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

/* -- advantages -------------------------------------------------------------------------------------------------- */

/* Leave-one-out: one reward per response, its group in [0, group_count). Responses alone in their group get 0. */
MINFORM_API minform_error minform_rloo(const minform_call* call, minform_dtype dtype, int64_t rows, const void* rewards,
                                       const int32_t* groups, int64_t group_count, void* advantages);

MINFORM_API minform_error minform_gae(const minform_call* call, minform_dtype dtype, double gamma, double lambda,
                                      int64_t rows, int64_t total, const int32_t* offsets, const void* rewards,
                                      const void* values, const uint8_t* mask /* or NULL */,
                                      const void* bootstrap /* per row, or NULL */, void* advantages, void* returns);

/* -- log-probs --------------------------------------------------------------------------------------------------- */

/* logits [rows, vocabulary]; results are float64 for float64 logits, else float32; log_sum_exp is always float64. */
MINFORM_API minform_error minform_token_log_probs(const minform_call* call, minform_dtype dtype, int64_t rows,
                                                  int64_t vocabulary, const void* logits, const int32_t* targets,
                                                  double temperature, void* log_probs, void* entropy /* or NULL */,
                                                  void* sum_squared_probs /* or NULL */, double* log_sum_exp);

/* grad_logits has the type of the logits and may be their memory. grad_entropy needs entropy. */
MINFORM_API minform_error minform_token_log_probs_backward(const minform_call* call, minform_dtype dtype, int64_t rows,
                                                           int64_t vocabulary, const void* logits,
                                                           const int32_t* targets, double temperature,
                                                           const double* log_sum_exp, const void* entropy /* or NULL */,
                                                           const void* grad_log_probs,
                                                           const void* grad_entropy /* or NULL */, void* grad_logits);

/* Of logits = hidden weight^T + bias, which are never held: hidden [rows, width], weight [vocabulary, width], all of
 * the dtype. */
MINFORM_API minform_error minform_linear_log_probs(const minform_call* call, minform_dtype dtype, int64_t rows,
                                                   int64_t width, int64_t vocabulary, const void* hidden,
                                                   const void* weight, const void* bias /* or NULL */,
                                                   const int32_t* targets, double temperature, void* log_probs,
                                                   void* entropy /* or NULL */, void* sum_squared_probs /* or NULL */,
                                                   double* log_sum_exp);

/* Gradients are float64 for float64 inputs, else float32; grad_bias exactly when there is a bias. */
MINFORM_API minform_error minform_linear_log_probs_backward(
    const minform_call* call, minform_dtype dtype, int64_t rows, int64_t width, int64_t vocabulary, const void* hidden,
    const void* weight, const void* bias /* or NULL */, const int32_t* targets, double temperature,
    const double* log_sum_exp, const void* entropy /* or NULL */, const void* grad_log_probs,
    const void* grad_entropy /* or NULL */, void* grad_hidden, void* grad_weight, void* grad_bias /* or NULL */);

/* -- losses ------------------------------------------------------------------------------------------------------ */

/* PPO's clipped loss, aggregated as the mean over counted tokens: bounds of the ratio, e.g. 0.8 and 1.2; dual_clip and
 * log_ratio_clamp as INFINITY and 20 for none and the usual. denominator NAN: the tokens counted here. One advantage
 * per token. `loss` receives the value at the side of the call. */
MINFORM_API minform_error minform_ppo_loss(const minform_call* call, minform_dtype dtype, double low, double high,
                                           double dual_clip, double log_ratio_clamp, double denominator, int64_t rows,
                                           int64_t total, const int32_t* offsets, const void* log_probs,
                                           const void* old_log_probs, const void* advantages,
                                           const uint8_t* mask /* or NULL */, void* grad_log_probs, double* loss);

/* -- optimiser --------------------------------------------------------------------------------------------------- */

/* One AdamW step in place; step counts from 1. Gradients are checked first: a bad one changes nothing. */
MINFORM_API minform_error minform_adamw(const minform_call* call, minform_dtype dtype, int64_t count, int64_t step,
                                        double learning_rate, double beta1, double beta2, double epsilon,
                                        double weight_decay, double grad_scale, void* params, const void* grads,
                                        void* first_moments, void* second_moments);

#ifdef __cplusplus
}
#endif

#endif
