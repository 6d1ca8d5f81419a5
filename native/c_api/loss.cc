#include "minform/loss.h"

#include <cmath>

#include "call.h"
#include "minform/cuda/loss.h"

using namespace minform;
using namespace minform::c;

minform_error minform_ppo_loss(const minform_call* call, minform_dtype dtype, double low, double high, double dual_clip,
                               double log_ratio_clamp, double denominator, int64_t rows, int64_t total,
                               const int32_t* offsets, const void* log_probs, const void* old_log_probs,
                               const void* advantages, const uint8_t* mask, void* grad_log_probs, double* loss_value) {
  return guarded([&] {
    require(low >= 0 && low <= 1 && high >= 1, "low, high: expected 0 <= low <= 1 <= high");
    require(dual_clip > 1, "dual_clip: expected a number above 1, or INFINITY");
    require(log_ratio_clamp > 0 && log_ratio_clamp <= 80, "log_ratio_clamp: expected a number in (0, 80]");
    require(std::isnan(denominator) || denominator >= 0, "denominator: expected a number >= 0, or NAN");
    require(log_probs != nullptr && old_log_probs != nullptr && advantages != nullptr && grad_log_probs != nullptr &&
                loss_value != nullptr,
            "log_probs, old_log_probs, advantages, grad_log_probs, loss: expected memory, got NULL");
    const Rows tokens = rowsOf(call, offsets, rows, total);
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const PolicyParameters parameters{PolicyLoss::ppo, low, high, dual_clip, INFINITY, 1, 1, log_ratio_clamp};
      const PolicyInput<T> in{tokens,
                              static_cast<const T*>(log_probs),
                              static_cast<const T*>(old_log_probs),
                              static_cast<const T*>(advantages),
                              false,
                              nullptr,
                              mask};
      const Aggregation mean{AggregationMode::tokenMean, nullptr, 0, nullptr, denominator};
      T* gradient = static_cast<T*>(grad_log_probs);
      return run(
          call,
          [&] {
            double slots[kLossSlots];
            const int64_t status = loss<T>().policy(parameters, in, mean, gradient, slots);
            *loss_value = slots[kLossValue];
            return status;
          },
          [&](auto status, auto stream) {
            const cuda::Buffer<double> slots(kLossSlots, stream);
            cuda::lossPolicy(parameters, in, total, mean, gradient, slots.get(), status, stream);
            cuda::copyOnDevice(loss_value, slots.get() + kLossValue, sizeof(double), stream);
          });
    });
  });
}
