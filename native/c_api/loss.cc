#include "minform/loss.h"

#include <cmath>

#include "call.h"
#include "minform/cuda/loss.h"

using namespace minform;
using namespace minform::c;

namespace {

static_assert(MINFORM_LOSS_SLOTS == static_cast<int>(kLossSlots) && MINFORM_SLOT_TALLIES == static_cast<int>(kTallies),
              "one layout");

Aggregation aggregationOf(const minform_call* call, const minform_aggregation* aggregation, int64_t rows) {
  require(aggregation != nullptr, "aggregation: expected a minform_aggregation, got NULL");
  const minform_aggregation& a = *aggregation;
  require(a.mode >= MINFORM_TOKEN_MEAN && a.mode <= MINFORM_SUM_OF_TOKENS,
          "aggregation->mode: expected a minform_aggregation_mode");
  require(std::isnan(a.denominator) || a.denominator >= 0, "aggregation->denominator: expected a number >= 0, or NAN");
  require(a.mode != MINFORM_PROMPT_MEAN || a.groups != nullptr || a.prompt_tokens != nullptr,
          "aggregation->groups, prompt_tokens: expected one of them");
  for (int64_t row = 0; onHost(call) && a.groups != nullptr && row < rows; row++) {
    require(a.groups[row] >= 0 && a.groups[row] < a.group_count,
            "aggregation->groups: expected numbers in [0, group_count)");
  }
  return {static_cast<AggregationMode>(a.mode), a.groups, a.group_count, a.prompt_tokens, a.denominator};
}

void checkClamp(double clamp) { require(clamp > 0 && clamp <= 80, "log_ratio_clamp: expected a number in (0, 80]"); }

PolicyParameters parametersOf(const minform_policy_parameters* parameters) {
  require(parameters != nullptr, "parameters: expected minform_policy_parameters, got NULL");
  const minform_policy_parameters& p = *parameters;
  require(p.form >= MINFORM_PPO && p.form <= MINFORM_REINFORCE,
          "parameters->form: expected a minform_policy_loss_form");
  checkClamp(p.log_ratio_clamp);
  if (p.form <= MINFORM_CISPO) require(p.low <= p.high, "parameters->low, high: expected low <= high");
  if (p.form == MINFORM_PPO) {
    require(p.dual_clip > 1 && p.max_ratio > 1, "parameters->dual_clip, max_ratio: expected more than 1, or INFINITY");
  }
  if (p.form == MINFORM_SAPO) {
    require(p.tau_positive > 0 && p.tau_positive <= 80 && p.tau_negative > 0 && p.tau_negative <= 80,
            "parameters->tau_positive, tau_negative: expected numbers in (0, 80]");
  }
  return {static_cast<PolicyLoss>(p.form),
          p.low,
          p.high,
          p.dual_clip,
          p.max_ratio,
          p.tau_positive,
          p.tau_negative,
          p.log_ratio_clamp};
}

}  // namespace

minform_error minform_policy_loss(const minform_call* call, minform_dtype dtype,
                                  const minform_policy_parameters* parameters, const minform_aggregation* aggregation,
                                  int64_t rows, int64_t total, const int32_t* offsets, const void* log_probs,
                                  const void* old_log_probs, const void* advantages, int32_t advantage_per_row,
                                  const void* importance_weights, const uint8_t* mask, void* grad_log_probs,
                                  double* slots) {
  return guarded([&] {
    const PolicyParameters how = parametersOf(parameters);
    require(log_probs != nullptr && advantages != nullptr && grad_log_probs != nullptr && slots != nullptr,
            "log_probs, advantages, grad_log_probs, slots: expected memory, got NULL");
    require(old_log_probs != nullptr || how.loss == PolicyLoss::reinforce, "old_log_probs: expected memory, got NULL");
    const Rows tokens = rowsOf(call, offsets, rows, total);
    const Aggregation whole = aggregationOf(call, aggregation, rows);
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const PolicyInput<T> in{tokens,
                              static_cast<const T*>(log_probs),
                              how.loss == PolicyLoss::reinforce ? nullptr : static_cast<const T*>(old_log_probs),
                              static_cast<const T*>(advantages),
                              advantage_per_row != 0,
                              static_cast<const T*>(importance_weights),
                              mask};
      T* gradient = static_cast<T*>(grad_log_probs);
      return run(
          call, [&] { return loss<T>().policy(how, in, whole, gradient, slots); },
          [&](auto status, auto stream) { cuda::lossPolicy(how, in, total, whole, gradient, slots, status, stream); });
    });
  });
}

minform_error minform_kl(const minform_call* call, minform_dtype dtype, minform_kl_estimator estimator,
                         minform_kl_gradient gradient, double log_ratio_clamp, const minform_aggregation* aggregation,
                         int64_t rows, int64_t total, const int32_t* offsets, const void* log_probs,
                         const void* ref_log_probs, const void* old_log_probs, const uint8_t* mask, void* values,
                         void* grad_log_probs, double* slots) {
  return guarded([&] {
    require(estimator >= MINFORM_K1 && estimator <= MINFORM_K_ABS, "estimator: expected a minform_kl_estimator");
    require(gradient >= MINFORM_KL_GRADIENT_SAME && gradient <= MINFORM_KL_GRADIENT_IMPORTANCE,
            "gradient: expected a minform_kl_gradient");
    checkClamp(log_ratio_clamp);
    require(log_probs != nullptr && ref_log_probs != nullptr && values != nullptr && grad_log_probs != nullptr &&
                slots != nullptr,
            "log_probs, ref_log_probs, values, grad_log_probs, slots: expected memory, got NULL");
    const Rows tokens = rowsOf(call, offsets, rows, total);
    const Aggregation whole = aggregationOf(call, aggregation, rows);
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const KlInput<T> in{tokens,
                          static_cast<const T*>(log_probs),
                          static_cast<const T*>(ref_log_probs),
                          static_cast<const T*>(old_log_probs),
                          mask,
                          static_cast<KlEstimator>(estimator),
                          static_cast<KlGradient>(gradient),
                          log_ratio_clamp};
      T* out = static_cast<T*>(values);
      T* grads = static_cast<T*>(grad_log_probs);
      return run(
          call, [&] { return loss<T>().kl(in, whole, out, grads, slots); },
          [&](auto status, auto stream) { cuda::lossKl(in, total, whole, out, grads, slots, status, stream); });
    });
  });
}

minform_error minform_value_loss(const minform_call* call, minform_dtype dtype, double clip_range,
                                 const minform_aggregation* aggregation, int64_t rows, int64_t total,
                                 const int32_t* offsets, const void* values, const void* old_values,
                                 const void* returns, const uint8_t* mask, void* grad_values, double* slots) {
  return guarded([&] {
    require(clip_range >= 0, "clip_range: expected a number >= 0");
    require(values != nullptr && returns != nullptr && grad_values != nullptr && slots != nullptr,
            "values, returns, grad_values, slots: expected memory, got NULL");
    const Rows tokens = rowsOf(call, offsets, rows, total);
    const Aggregation whole = aggregationOf(call, aggregation, rows);
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const ValueInput<T> in{tokens,
                             static_cast<const T*>(values),
                             static_cast<const T*>(old_values),
                             static_cast<const T*>(returns),
                             mask,
                             clip_range};
      T* gradient = static_cast<T*>(grad_values);
      return run(
          call, [&] { return loss<T>().value(in, whole, gradient, slots); },
          [&](auto status, auto stream) { cuda::lossValue(in, total, whole, gradient, slots, status, stream); });
    });
  });
}

minform_error minform_entropy(const minform_call* call, minform_dtype dtype, const minform_aggregation* aggregation,
                              int64_t rows, int64_t total, const int32_t* offsets, const void* entropy,
                              const uint8_t* mask, void* grad_entropy, double* slots) {
  return guarded([&] {
    require(entropy != nullptr && grad_entropy != nullptr && slots != nullptr,
            "entropy, grad_entropy, slots: expected memory, got NULL");
    const Rows tokens = rowsOf(call, offsets, rows, total);
    const Aggregation whole = aggregationOf(call, aggregation, rows);
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const T* from = static_cast<const T*>(entropy);
      T* gradient = static_cast<T*>(grad_entropy);
      return run(
          call, [&] { return loss<T>().entropy(tokens, from, mask, whole, gradient, slots); },
          [&](auto status, auto stream) {
            cuda::lossEntropy(tokens, total, from, mask, whole, gradient, slots, status, stream);
          });
    });
  });
}

minform_error minform_importance_weights(const minform_call* call, minform_dtype dtype, minform_correction correction,
                                         minform_weight_level level, double low, double high, double log_ratio_clamp,
                                         double normalizer, int64_t rows, int64_t total, const int32_t* offsets,
                                         const void* old_log_probs, const void* rollout_log_probs, const uint8_t* mask,
                                         void* weights, uint8_t* kept, double* slots) {
  return guarded([&] {
    require(correction == MINFORM_TRUNCATE || correction == MINFORM_MASK_OUT,
            "correction: expected a minform_correction");
    require(level >= MINFORM_PER_TOKEN && level <= MINFORM_SEQUENCE_MEAN, "level: expected a minform_weight_level");
    require(low >= 0 && high >= low, "low, high: expected 0 <= low <= high");
    require(normalizer >= 0, "normalizer: expected a number >= 0");
    checkClamp(log_ratio_clamp);
    require(old_log_probs != nullptr && rollout_log_probs != nullptr && weights != nullptr && kept != nullptr &&
                slots != nullptr,
            "old_log_probs, rollout_log_probs, weights, kept, slots: expected memory, got NULL");
    const Rows tokens = rowsOf(call, offsets, rows, total);
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const WeightInput<T> in{tokens,
                              static_cast<const T*>(old_log_probs),
                              static_cast<const T*>(rollout_log_probs),
                              mask,
                              static_cast<Correction>(correction),
                              static_cast<WeightLevel>(level),
                              low,
                              high,
                              log_ratio_clamp,
                              normalizer};
      T* out = static_cast<T*>(weights);
      return run(
          call, [&] { return loss<T>().importanceWeights(in, out, kept, slots); },
          [&](auto status, auto stream) { cuda::lossImportanceWeights(in, total, out, kept, slots, status, stream); });
    });
  });
}
