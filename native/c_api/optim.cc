#include "minform/optim.h"

#include "call.h"
#include "minform/cuda/optim.h"

using namespace minform;
using namespace minform::c;

minform_error minform_adamw(const minform_call* call, minform_dtype dtype, int64_t count, int64_t step,
                            double learning_rate, double beta1, double beta2, double epsilon, double weight_decay,
                            double grad_scale, void* params, const void* grads, void* first_moments,
                            void* second_moments) {
  return guarded([&] {
    require(count >= 0, "count: expected a number >= 0");
    require(step >= 1, "step: expected a number >= 1");
    require(learning_rate >= 0 && weight_decay >= 0, "learning_rate, weight_decay: expected numbers >= 0");
    require(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1, "beta1, beta2: expected numbers in [0, 1)");
    require(epsilon > 0 && grad_scale > 0, "epsilon, grad_scale: expected numbers above 0");
    require(params != nullptr && grads != nullptr && first_moments != nullptr && second_moments != nullptr,
            "params, grads, first_moments, second_moments: expected memory, got NULL");
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const AdamWTensor<T> tensor{static_cast<T*>(params), static_cast<const T*>(grads), static_cast<T*>(first_moments),
                                  static_cast<T*>(second_moments), count};
      const AdamWOptions options{step, learning_rate, beta1, beta2, epsilon, weight_decay, grad_scale};
      return run(
          call,
          [&] {
            const int64_t bad = optim<T>().firstUnusable(tensor.grads, count, grad_scale);
            return bad == kOk ? optim<T>().adamW(tensor, options) : bad;
          },
          [&](auto status, auto stream) {
            // Words of their own: a step that was held back would say that all is well.
            const cuda::Buffer<int64_t> guard(1, stream), updated(1, stream);
            cuda::resetStatus(guard.get(), stream);
            cuda::optimCheckGrads(tensor.grads, count, grad_scale, nullptr, status, guard.get(), stream);
            cuda::optimAdamW(tensor, options, nullptr, guard.get(), updated.get(), stream);
            cuda::mergeStatus(status, updated.get(), stream);
          });
    });
  });
}
