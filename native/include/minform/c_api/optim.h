/* Gradient norm, clipping and AdamW. */
#ifndef MINFORM_C_API_OPTIM_H
#define MINFORM_C_API_OPTIM_H

#include "minform/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What minform_grad_norm finds. */
typedef struct minform_norm {
  double norm;  /* NaN where a gradient is not finite or the norm is beyond float64 */
  double scale; /* min(1, max_norm / (norm + 1e-6)) */
} minform_norm;

/* Global L2 norm over `tensors` arrays, and the scale that clips it to max_norm. The tables grads and counts are on the
 * host, the arrays and `out` at the side of the call. The status is the index of the first bad gradient within its
 * tensor. A norm that is NaN changes the guard (minform_adamw). */
MINFORM_API minform_error minform_grad_norm(const minform_call* call, minform_dtype dtype, int64_t tensors,
                                            const void* const* grads, const int64_t* counts, double max_norm,
                                            minform_norm* out, int64_t* guard /* or NULL */);

/* values *= *scale, e.g. &norm->scale; nothing is written where it is 1. */
MINFORM_API minform_error minform_scale(const minform_call* call, minform_dtype dtype, int64_t count, void* values,
                                        const double* scale);

/* The first gradient that is NaN or infinite, or whose square is infinite, after multiplication by grad_scale and
 * *scale. It changes the guard (minform_adamw). */
MINFORM_API minform_error minform_check_grads(const minform_call* call, minform_dtype dtype, int64_t count,
                                              const void* grads, double grad_scale, const double* scale /* or NULL */,
                                              int64_t* guard /* or NULL */);

typedef struct minform_adamw_options {
  int64_t step; /* counts from 1 */
  double learning_rate, beta1, beta2, epsilon, weight_decay;
  double grad_scale; /* multiplies every gradient; 1 for none */
} minform_adamw_options;

/* One AdamW step in place, of one tensor. scale: a further factor of the gradients, at the side of the call, e.g.
 * &norm->scale. Without a guard the gradients are checked first: a bad one changes nothing. With one they are not: it
 * is a word at the side of the call that the caller sets to -1, that every failed check of the step's gradients
 * changes, and nothing is written unless it is -1. */
MINFORM_API minform_error minform_adamw(const minform_call* call, minform_dtype dtype, int64_t count,
                                        const minform_adamw_options* options, const double* scale /* or NULL */,
                                        const int64_t* guard /* or NULL */, void* params, const void* grads,
                                        void* first_moments, void* second_moments);

#ifdef __cplusplus
}
#endif

#endif
