/* Drawing tokens from logits. */
#ifndef MINFORM_C_API_SAMPLING_H
#define MINFORM_C_API_SAMPLING_H

#include "minform/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which tokens may be drawn; applied in the order min_p, top_k, top_p. */
typedef struct minform_sampling_rule {
  double temperature; /* in [1e-6, 1e6], or 0: the most likely token */
  int64_t top_k;      /* this many of the most likely; 0: all */
  double top_p;       /* in (0, 1]: the most likely that together have this probability */
  double min_p;       /* in [0, 1]: those with this share of the most likely one's probability */
} minform_sampling_rule;

/* What tells the draws of one seed apart: equal counters, equal random number. */
typedef struct minform_counter {
  uint32_t step, sample;
  uint64_t prompt;
} minform_counter;

/* A token per row of logits [rows, vocabulary], vocabulary at most 2^18. A draw depends on its row, the rule, the seed
 * and the row's counter alone. log_probs are those of the whole distribution at the temperature (at 1 for temperature
 * 0), truncated_log_probs those among what the rule leaves: float64 for float64 logits, else float32. Status: the first
 * row without a distribution. */
MINFORM_API minform_error minform_sample_tokens(const minform_call* call, minform_dtype dtype,
                                                const minform_sampling_rule* rule, uint64_t seed, int64_t rows,
                                                int64_t vocabulary, const void* logits,
                                                const minform_counter* counters /* per row, at the side of the call */,
                                                int32_t* tokens, void* log_probs /* or NULL */,
                                                void* truncated_log_probs /* or NULL */);

#ifdef __cplusplus
}
#endif

#endif
