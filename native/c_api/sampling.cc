#include "minform/sampling.h"

#include "call.h"
#include "minform/cuda/sampling.h"

using namespace minform;
using namespace minform::c;

minform_error minform_sample_tokens(const minform_call* call, minform_dtype dtype, const minform_sampling_rule* rule,
                                    uint64_t seed, int64_t rows, int64_t vocabulary, const void* logits,
                                    const minform_counter* counters, int32_t* tokens, void* log_probs,
                                    void* truncated_log_probs) {
  return guarded([&] {
    static_assert(sizeof(minform_counter) == sizeof(RandomCounter), "one layout");
    require(rule != nullptr, "rule: expected a minform_sampling_rule, got NULL");
    require(rule->temperature == 0 || (rule->temperature >= 1e-6 && rule->temperature <= 1e6),
            "rule->temperature: expected 0 or a number in [1e-6, 1e6]");
    require(rule->top_k >= 0, "rule->top_k: expected a count");
    require(rule->top_p > 0 && rule->top_p <= 1, "rule->top_p: expected a number in (0, 1]");
    require(rule->min_p >= 0 && rule->min_p <= 1, "rule->min_p: expected a number in [0, 1]");
    require(logits != nullptr && counters != nullptr && tokens != nullptr,
            "logits, counters, tokens: expected memory, got NULL");
    checkExtents(rows, vocabulary);
    require(vocabulary <= kMaxSamplingColumns, "vocabulary: expected at most 2^18");
    return byResult(dtype, [&](auto kind) {
      using T = decltype(kind);
      const Matrix matrix{logits, elementOf(dtype), rows, vocabulary};
      const SamplingRule how{rule->temperature, rule->top_k, rule->top_p, rule->min_p};
      const auto* draws = reinterpret_cast<const RandomCounter*>(counters);
      const SamplingOutput<T> out{tokens, static_cast<T*>(log_probs), static_cast<T*>(truncated_log_probs)};
      return run(
          call,
          [&] {
            const CancelFlag goOn{false};
            return sampling<T>().sample(matrix, how, seed, draws, out, goOn);
          },
          [&](auto status, auto stream) { cuda::sampleTokens(matrix, how, seed, draws, out, status, stream); });
    });
  });
}
