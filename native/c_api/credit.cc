#include "minform/credit.h"

#include "call.h"
#include "minform/cuda/credit.h"

using namespace minform;
using namespace minform::c;

minform_error minform_credit(const minform_call* call, minform_dtype dtype, minform_credit_form form, double parameter,
                             int64_t rows, int64_t total, const int32_t* offsets, const void* step_rewards,
                             const uint8_t* mask, const int32_t* step_ends, void* rewards, void* returns,
                             void* outcomes, void* weights) {
  return guarded([&] {
    require(form >= MINFORM_MIN_FORM && form <= MINFORM_PRODUCT, "form: expected a minform_credit_form");
    require(form != MINFORM_MIN_FORM || parameter > 0, "parameter: expected a temperature above 0");
    require(form != MINFORM_GAMMA_DECAY || (parameter >= 0 && parameter <= 1), "parameter: expected gamma in [0, 1]");
    require(step_rewards != nullptr && rewards != nullptr && returns != nullptr && outcomes != nullptr,
            "step_rewards, rewards, returns, outcomes: expected memory, got NULL");
    require(weights == nullptr || form == MINFORM_MIN_FORM, "weights: expected NULL for a form without weights");
    const Rows steps = rowsOf(call, offsets, rows, total);
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const auto which = static_cast<CreditForm>(form);
      const CreditInput<T> in{steps, static_cast<const T*>(step_rewards), mask,
                              which == CreditForm::gammaDecay ? step_ends : nullptr, parameter};
      const CreditOutput<T> out{static_cast<T*>(rewards), static_cast<T*>(returns), static_cast<T*>(outcomes),
                                static_cast<T*>(weights)};
      return run(
          call, [&] { return credit<T>().assign(which, in, out); },
          [&](auto status, auto stream) { cuda::creditAssign(which, in, out, status, stream); });
    });
  });
}

minform_error minform_min_form_backward(const minform_call* call, minform_dtype dtype, double temperature, int64_t rows,
                                        int64_t total, const int32_t* offsets, const void* step_rewards,
                                        const uint8_t* mask, const void* grad_rewards, const void* grad_returns,
                                        const void* grad_outcomes, void* grad_step_rewards) {
  return guarded([&] {
    require(temperature > 0, "temperature: expected a number above 0");
    require(step_rewards != nullptr && grad_step_rewards != nullptr,
            "step_rewards, grad_step_rewards: expected memory, got NULL");
    require(grad_rewards != nullptr || grad_returns != nullptr || grad_outcomes != nullptr,
            "grad_rewards, grad_returns, grad_outcomes: expected at least one");
    const Rows steps = rowsOf(call, offsets, rows, total);
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const CreditInput<T> in{steps, static_cast<const T*>(step_rewards), mask, nullptr, temperature};
      const CreditGradients<T> grads{static_cast<const T*>(grad_rewards), static_cast<const T*>(grad_returns),
                                     static_cast<const T*>(grad_outcomes)};
      T* out = static_cast<T*>(grad_step_rewards);
      return run(
          call, [&] { return credit<T>().minFormBackward(in, grads, out); },
          [&](auto status, auto stream) { cuda::creditMinFormBackward(in, grads, out, status, stream); });
    });
  });
}

minform_error minform_returns(const minform_call* call, minform_dtype dtype, double gamma, int64_t rows, int64_t total,
                              const int32_t* offsets, const void* rewards, const uint8_t* mask, void* returns) {
  return guarded([&] {
    require(gamma >= 0 && gamma <= 1, "gamma: expected a number in [0, 1]");
    require(rewards != nullptr && returns != nullptr, "rewards, returns: expected memory, got NULL");
    const Rows tokens = rowsOf(call, offsets, rows, total);
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const T* from = static_cast<const T*>(rewards);
      T* to = static_cast<T*>(returns);
      return run(
          call, [&] { return credit<T>().returns(tokens, from, mask, gamma, to); },
          [&](auto status, auto stream) { cuda::creditReturns(tokens, from, mask, gamma, to, status, stream); });
    });
  });
}

minform_error minform_place_steps(const minform_call* call, minform_dtype dtype, minform_place place, int64_t rows,
                                  int64_t total_tokens, const int32_t* token_offsets, int64_t total_steps,
                                  const int32_t* step_offsets, const int32_t* step_ends, const void* values,
                                  const uint8_t* zero_at, const uint8_t* mask, void* out) {
  return guarded([&] {
    require(place == MINFORM_AT_END || place == MINFORM_OVER_SPAN, "place: expected a minform_place");
    require(values != nullptr && out != nullptr, "values, out: expected memory, got NULL");
    const Rows tokens = rowsOf(call, token_offsets, rows, total_tokens);
    const Rows steps = stepsOf(call, tokens, step_offsets, total_steps, step_ends);
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const auto where = static_cast<Place>(place);
      const T* from = static_cast<const T*>(values);
      T* to = static_cast<T*>(out);
      return run(
          call,
          [&] {
            credit<T>().placeSteps(tokens, steps, step_ends, from, where, zero_at, mask, to);
            return kOk;
          },
          [&](auto status, auto stream) {
            cuda::resetStatus(status, stream);
            cuda::creditPlaceSteps(tokens, steps, step_ends, from, where, zero_at, mask, to, stream);
          });
    });
  });
}
