#include "minform/optim.h"

#include <vector>

#include "call.h"
#include "minform/cuda/optim.h"

using namespace minform;
using namespace minform::c;

namespace {

double scaled(double gradScale, const double* scale) { return scale == nullptr ? gradScale : gradScale * *scale; }

// A failed check on the host, as it holds back a step.
int64_t guardedBy(int64_t status, int64_t* guard) {
  if (status != kOk && guard != nullptr) *guard = status;
  return status;
}

}  // namespace

minform_error minform_grad_norm(const minform_call* call, minform_dtype dtype, int64_t tensors,
                                const void* const* grads, const int64_t* counts, double max_norm, minform_norm* out,
                                int64_t* guard) {
  return guarded([&] {
    static_assert(sizeof(minform_norm) == sizeof(GradNorm), "one layout");
    require(tensors >= 1 && tensors <= 2147483647, "tensors: expected at least one");
    require(max_norm >= 0, "max_norm: expected a number >= 0");
    require(grads != nullptr && counts != nullptr && out != nullptr, "grads, counts, out: expected memory, got NULL");
    for (int64_t i = 0; i < tensors; i++) {
      require(counts[i] == 0 || (counts[i] > 0 && grads[i] != nullptr), "grads, counts: expected tensors");
    }
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      std::vector<const T*> arrays;
      for (int64_t i = 0; i < tensors; i++) arrays.push_back(static_cast<const T*>(grads[i]));
      GradNorm* found = reinterpret_cast<GradNorm*>(out);
      return run(
          call,
          [&] {
            std::vector<int64_t> statuses(arrays.size());
            *found = gradNorm(arrays.data(), counts, tensors, max_norm, statuses.data());
            if (found->norm != found->norm) guardedBy(0, guard);
            for (const int64_t status : statuses) {
              if (status != kOk) return status;
            }
            return kOk;
          },
          [&](auto status, auto stream) {
            const cuda::Buffer<int64_t> statuses(tensors, stream);
            cuda::optimGradNorm(arrays.data(), counts, tensors, max_norm, found, statuses.get(), guard, stream);
            cuda::resetStatus(status, stream);
            for (int64_t i = 0; i < tensors; i++) cuda::mergeStatus(status, statuses.get() + i, stream);
          });
    });
  });
}

minform_error minform_scale(const minform_call* call, minform_dtype dtype, int64_t count, void* values,
                            const double* scale) {
  return guarded([&] {
    require(count >= 0, "count: expected a number >= 0");
    require(values != nullptr && scale != nullptr, "values, scale: expected memory, got NULL");
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      T* data = static_cast<T*>(values);
      return run(
          call,
          [&] {
            if (*scale != 1) optim<T>().scale(data, count, *scale);
            return kOk;
          },
          [&](auto status, auto stream) {
            cuda::resetStatus(status, stream);
            cuda::optimScale(data, count, scale, stream);
          });
    });
  });
}

minform_error minform_check_grads(const minform_call* call, minform_dtype dtype, int64_t count, const void* grads,
                                  double grad_scale, const double* scale, int64_t* guard) {
  return guarded([&] {
    require(count >= 0, "count: expected a number >= 0");
    require(grad_scale > 0, "grad_scale: expected a number above 0");
    require(grads != nullptr, "grads: expected memory, got NULL");
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const T* data = static_cast<const T*>(grads);
      return run(
          call, [&] { return guardedBy(optim<T>().firstUnusable(data, count, scaled(grad_scale, scale)), guard); },
          [&](auto status, auto stream) {
            cuda::optimCheckGrads(data, count, grad_scale, scale, status, guard, stream);
          });
    });
  });
}

minform_error minform_adamw(const minform_call* call, minform_dtype dtype, int64_t count,
                            const minform_adamw_options* options, const double* scale, const int64_t* guard,
                            void* params, const void* grads, void* first_moments, void* second_moments) {
  return guarded([&] {
    require(count >= 0, "count: expected a number >= 0");
    require(options != nullptr, "options: expected minform_adamw_options, got NULL");
    const minform_adamw_options& o = *options;
    require(o.step >= 1, "options->step: expected a number >= 1");
    require(o.learning_rate >= 0 && o.weight_decay >= 0, "options->learning_rate, weight_decay: expected numbers >= 0");
    require(o.beta1 >= 0 && o.beta1 < 1 && o.beta2 >= 0 && o.beta2 < 1,
            "options->beta1, beta2: expected numbers in [0, 1)");
    require(o.epsilon > 0 && o.grad_scale > 0, "options->epsilon, grad_scale: expected numbers above 0");
    require(params != nullptr && grads != nullptr && first_moments != nullptr && second_moments != nullptr,
            "params, grads, first_moments, second_moments: expected memory, got NULL");
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const AdamWTensor<T> tensor{static_cast<T*>(params), static_cast<const T*>(grads), static_cast<T*>(first_moments),
                                  static_cast<T*>(second_moments), count};
      AdamWOptions how{o.step, o.learning_rate, o.beta1, o.beta2, o.epsilon, o.weight_decay, o.grad_scale};
      return run(
          call,
          [&] {
            how.gradScale = scaled(o.grad_scale, scale);
            const int64_t bad = guard == nullptr ? optim<T>().firstUnusable(tensor.grads, count, how.gradScale) : kOk;
            if (bad != kOk || (guard != nullptr && *guard != kOk)) return bad;
            return optim<T>().adamW(tensor, how);
          },
          [&](auto status, auto stream) {
            if (guard != nullptr) {
              cuda::optimAdamW(tensor, how, scale, guard, status, stream);
              return;
            }
            // Words of their own: a step that was held back would say that all is well.
            const cuda::Buffer<int64_t> own(1, stream), updated(1, stream);
            cuda::resetStatus(own.get(), stream);
            cuda::optimCheckGrads(tensor.grads, count, o.grad_scale, scale, status, own.get(), stream);
            cuda::optimAdamW(tensor, how, scale, own.get(), updated.get(), stream);
            cuda::mergeStatus(status, updated.get(), stream);
          });
    });
  });
}
