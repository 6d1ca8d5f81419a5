#include "minform/logprob.h"

#include "call.h"
#include "minform/cuda/logprob.h"

using namespace minform;
using namespace minform::c;

namespace {

const CancelFlag kGoOn{false};

void checkRows(const minform_call* call, int64_t rows, int64_t vocabulary, const int32_t* targets, double temperature) {
  checkExtents(rows, vocabulary);
  require(temperature >= 1e-6 && temperature <= 1e6, "temperature: expected a number in [1e-6, 1e6]");
  require(targets != nullptr, "targets: expected memory, got NULL");
  if (!onHost(call)) return;
  for (int64_t row = 0; row < rows; row++) {
    require(targets[row] >= 0 && targets[row] < vocabulary, "targets: expected ids in [0, vocabulary)");
  }
}

template <class T>
LogProbOutput<T> outputOf(void* log_probs, void* entropy, void* sum_squared_probs, double* log_sum_exp) {
  require(log_probs != nullptr && log_sum_exp != nullptr, "log_probs, log_sum_exp: expected memory, got NULL");
  return {static_cast<T*>(log_probs), static_cast<T*>(entropy), static_cast<T*>(sum_squared_probs), log_sum_exp};
}

template <class T>
LogProbGradients<T> gradientsOf(const double* log_sum_exp, const void* entropy, const void* grad_log_probs,
                                const void* grad_entropy) {
  require(log_sum_exp != nullptr && grad_log_probs != nullptr,
          "log_sum_exp, grad_log_probs: expected memory, got NULL");
  require(grad_entropy == nullptr || entropy != nullptr, "entropy: expected it beside grad_entropy, got NULL");
  return {log_sum_exp, grad_entropy == nullptr ? nullptr : static_cast<const T*>(entropy),
          static_cast<const T*>(grad_log_probs), static_cast<const T*>(grad_entropy)};
}

LinearInput headOf(minform_dtype dtype, int64_t rows, int64_t width, int64_t vocabulary, const void* hidden,
                   const void* weight, const void* bias) {
  require(width >= 1 && width <= 2147483647, "width: expected an extent in [1, 2^31)");
  require(hidden != nullptr && weight != nullptr, "hidden, weight: expected memory, got NULL");
  const Element element = elementOf(dtype);
  return {{hidden, element, rows, width}, {weight, element, vocabulary, width}, bias, element};
}

}  // namespace

minform_error minform_token_log_probs(const minform_call* call, minform_dtype dtype, int64_t rows, int64_t vocabulary,
                                      const void* logits, const int32_t* targets, double temperature, void* log_probs,
                                      void* entropy, void* sum_squared_probs, double* log_sum_exp) {
  return guarded([&] {
    require(logits != nullptr, "logits: expected memory, got NULL");
    checkRows(call, rows, vocabulary, targets, temperature);
    return byResult(dtype, [&](auto kind) {
      using T = decltype(kind);
      const Matrix matrix{logits, elementOf(dtype), rows, vocabulary};
      const auto out = outputOf<T>(log_probs, entropy, sum_squared_probs, log_sum_exp);
      return run(
          call, [&] { return logprob<T>().forward(matrix, targets, temperature, out, kGoOn); },
          [&](auto status, auto stream) { cuda::logProbForward(matrix, targets, temperature, out, status, stream); });
    });
  });
}

minform_error minform_token_log_probs_backward(const minform_call* call, minform_dtype dtype, int64_t rows,
                                               int64_t vocabulary, const void* logits, const int32_t* targets,
                                               double temperature, const double* log_sum_exp, const void* entropy,
                                               const void* grad_log_probs, const void* grad_entropy,
                                               void* grad_logits) {
  return guarded([&] {
    require(logits != nullptr && grad_logits != nullptr, "logits, grad_logits: expected memory, got NULL");
    checkRows(call, rows, vocabulary, targets, temperature);
    return byResult(dtype, [&](auto kind) {
      using T = decltype(kind);
      const Matrix matrix{logits, elementOf(dtype), rows, vocabulary};
      const auto in = gradientsOf<T>(log_sum_exp, entropy, grad_log_probs, grad_entropy);
      return run(
          call, [&] { return logprob<T>().backward(matrix, targets, temperature, in, grad_logits, kGoOn); },
          [&](auto status, auto stream) {
            cuda::logProbBackward(matrix, targets, temperature, in, grad_logits, status, stream);
          });
    });
  });
}

minform_error minform_linear_log_probs(const minform_call* call, minform_dtype dtype, int64_t rows, int64_t width,
                                       int64_t vocabulary, const void* hidden, const void* weight, const void* bias,
                                       const int32_t* targets, double temperature, void* log_probs, void* entropy,
                                       void* sum_squared_probs, double* log_sum_exp) {
  return guarded([&] {
    checkRows(call, rows, vocabulary, targets, temperature);
    return byResult(dtype, [&](auto kind) {
      using T = decltype(kind);
      const LinearInput in = headOf(dtype, rows, width, vocabulary, hidden, weight, bias);
      const auto out = outputOf<T>(log_probs, entropy, sum_squared_probs, log_sum_exp);
      return run(
          call, [&] { return logprob<T>().linearForward(in, targets, temperature, out, kGoOn); },
          [&](auto status, auto stream) { cuda::logProbLinearForward(in, targets, temperature, out, status, stream); });
    });
  });
}

minform_error minform_linear_log_probs_backward(const minform_call* call, minform_dtype dtype, int64_t rows,
                                                int64_t width, int64_t vocabulary, const void* hidden,
                                                const void* weight, const void* bias, const int32_t* targets,
                                                double temperature, const double* log_sum_exp, const void* entropy,
                                                const void* grad_log_probs, const void* grad_entropy, void* grad_hidden,
                                                void* grad_weight, void* grad_bias, int32_t accumulate) {
  return guarded([&] {
    require(grad_hidden != nullptr && grad_weight != nullptr, "grad_hidden, grad_weight: expected memory, got NULL");
    require((grad_bias != nullptr) == (bias != nullptr), "grad_bias: expected it exactly beside a bias");
    checkRows(call, rows, vocabulary, targets, temperature);
    return byResult(dtype, [&](auto kind) {
      using T = decltype(kind);
      const LinearInput in = headOf(dtype, rows, width, vocabulary, hidden, weight, bias);
      const auto grads = gradientsOf<T>(log_sum_exp, entropy, grad_log_probs, grad_entropy);
      const LinearGradients<T> out{static_cast<T*>(grad_hidden), static_cast<T*>(grad_weight),
                                   static_cast<T*>(grad_bias), accumulate != 0};
      return run(
          call, [&] { return logprob<T>().linearBackward(in, targets, temperature, grads, out, kGoOn); },
          [&](auto status, auto stream) {
            cuda::logProbLinearBackward(in, targets, temperature, grads, out, status, stream);
          });
    });
  });
}
