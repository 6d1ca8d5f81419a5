/* Log-probs, entropy, and their gradients. */
#ifndef MINFORM_C_API_LOGPROB_H
#define MINFORM_C_API_LOGPROB_H

#include "minform/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* Gradients are float64 for float64 inputs, else float32; grad_bias exactly when there is a bias. accumulate 1:
 * grad_weight and grad_bias are added to what they hold. */
MINFORM_API minform_error minform_linear_log_probs_backward(
    const minform_call* call, minform_dtype dtype, int64_t rows, int64_t width, int64_t vocabulary, const void* hidden,
    const void* weight, const void* bias /* or NULL */, const int32_t* targets, double temperature,
    const double* log_sum_exp, const void* entropy /* or NULL */, const void* grad_log_probs,
    const void* grad_entropy /* or NULL */, void* grad_hidden, void* grad_weight, void* grad_bias /* or NULL */,
    int32_t accumulate);

#ifdef __cplusplus
}
#endif

#endif
