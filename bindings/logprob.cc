#include "minform/logprob.h"

#include <memory>
#include <vector>

#include "addon.h"
#include "minform/cuda/logprob.h"
#include "placed_job.h"

namespace minform {

namespace {

// On the host a copy: an index that changed after the check would be read through. On the device the array itself,
// whose content the kernel checks.
struct Targets {
  std::shared_ptr<const std::vector<int32_t>> copy;
  const int32_t* onDevice = nullptr;
  const int32_t* data() const { return copy == nullptr ? onDevice : copy->data(); }
};

Targets targetsOf(const Args& args, size_t index, int64_t rows, int64_t vocabulary) {
  const int32_t* given = args.array<int32_t>(index, rows);
  if (args.onDevice()) return {nullptr, given};
  auto copy = std::make_shared<const std::vector<int32_t>>(given, given + rows);
  for (const int32_t target : *copy) {
    if (target < 0 || target >= vocabulary) args.fail(index, "holds an index outside the vocabulary");
  }
  return {copy};
}

double temperatureOf(const Args& args, size_t index) {
  const double temperature = args.number(index);
  if (!(temperature >= 1e-6 && temperature <= 1e6)) args.fail(index, "is no temperature");
  return temperature;
}

// (logProbs, entropy?, sumSquaredProbs?, logSumExp) from `index` on.
template <class T>
LogProbOutput<T> outputs(const Args& args, size_t index, int64_t rows) {
  return {args.output<T>(index, rows), args.optionalOutput<T>(index + 1, rows), args.optionalOutput<T>(index + 2, rows),
          args.output<double>(index + 3, rows)};
}

// (logSumExp, entropy?, gradLogProbs, gradEntropy?) from `index` on.
template <class T>
LogProbGradients<T> gradients(const Args& args, size_t index, int64_t rows) {
  const LogProbGradients<T> grads{args.array<double>(index, rows), args.optionalArray<T>(index + 1, rows),
                                  args.array<T>(index + 2, rows), args.optionalArray<T>(index + 3, rows)};
  if (grads.gradEntropy != nullptr && grads.entropy == nullptr) args.fail(index + 1, "is missing");
  return grads;
}

// (logits, element, rows, columns, targets, temperature, logProbs, entropy?, sumSquaredProbs?, logSumExp) -> job
Napi::Value forward(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  const Matrix logits = matrix(args, 0);
  const Targets targets = targetsOf(args, 4, logits.rows, logits.columns);
  const double temperature = temperatureOf(args, 5);
  return byResult(logits.element, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    const LogProbOutput<T> out = outputs<T>(args, 6, logits.rows);
    return runJob(
        args, info,
        [=](const CancelFlag& cancelled) {
          return logprob<T>().forward(logits, targets.data(), temperature, out, cancelled);
        },
        [&](auto status, auto stream) {
          cuda::logProbForward(logits, targets.data(), temperature, out, status, stream);
        });
  });
}

// (logits, element, rows, columns, targets, temperature, logSumExp, entropy?, gradLogProbs, gradEntropy?,
// gradLogits) -> job
Napi::Value backward(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  const Matrix logits = matrix(args, 0);
  const Targets targets = targetsOf(args, 4, logits.rows, logits.columns);
  const double temperature = temperatureOf(args, 5);
  void* out = outputElements(args, 10, logits.element, logits.rows * logits.columns);
  return byResult(logits.element, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    const LogProbGradients<T> in = gradients<T>(args, 6, logits.rows);
    return runJob(
        args, info,
        [=](const CancelFlag& cancelled) {
          return logprob<T>().backward(logits, targets.data(), temperature, in, out, cancelled);
        },
        [&](auto status, auto stream) {
          cuda::logProbBackward(logits, targets.data(), temperature, in, out, status, stream);
        });
  });
}

// (hidden x4, weight x4, bias?, biasElement) from 0 on.
LinearInput linearInput(const Args& args) {
  const Matrix hidden = matrix(args, 0), weight = matrix(args, 4);
  if (hidden.columns != weight.columns) args.fail(7, "is not the width of the hidden states");
  const Element biasElement = elementKind(args, 9);
  const bool reference = hidden.element == Element::float64;
  if (reference != (weight.element == Element::float64)) args.fail(5, "mixes float64 with a narrower type");
  if (args.isMissing(8)) return {hidden, weight, nullptr, biasElement};
  if (reference != (biasElement == Element::float64)) args.fail(9, "mixes float64 with a narrower type");
  return {hidden, weight, elements(args, 8, biasElement, weight.rows), biasElement};
}

// (linear input x10, targets, temperature, logProbs, entropy?, sumSquaredProbs?, logSumExp) -> job
Napi::Value linearForward(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  const LinearInput in = linearInput(args);
  const Targets targets = targetsOf(args, 10, in.hidden.rows, in.weight.rows);
  const double temperature = temperatureOf(args, 11);
  return byResult(in.hidden.element, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    const LogProbOutput<T> out = outputs<T>(args, 12, in.hidden.rows);
    return runJob(
        args, info,
        [=](const CancelFlag& cancelled) {
          return logprob<T>().linearForward(in, targets.data(), temperature, out, cancelled);
        },
        [&](auto status, auto stream) {
          cuda::logProbLinearForward(in, targets.data(), temperature, out, status, stream);
        });
  });
}

// (linear input x10, targets, temperature, logSumExp, entropy?, gradLogProbs, gradEntropy?, gradHidden,
// gradWeight, gradBias?) -> job
Napi::Value linearBackward(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  const LinearInput in = linearInput(args);
  const Targets targets = targetsOf(args, 10, in.hidden.rows, in.weight.rows);
  const double temperature = temperatureOf(args, 11);
  return byResult(in.hidden.element, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    const LogProbGradients<T> grads = gradients<T>(args, 12, in.hidden.rows);
    const LinearGradients<T> out{args.output<T>(16, in.hidden.rows * in.hidden.columns),
                                 args.output<T>(17, in.weight.rows * in.weight.columns),
                                 args.optionalOutput<T>(18, in.weight.rows), false};
    return runJob(
        args, info,
        [=](const CancelFlag& cancelled) {
          return logprob<T>().linearBackward(in, targets.data(), temperature, grads, out, cancelled);
        },
        [&](auto status, auto stream) {
          cuda::logProbLinearBackward(in, targets.data(), temperature, grads, out, status, stream);
        });
  });
}

}  // namespace

void registerLogProb(Napi::Env env, Napi::Object exports) {
  Family(env, exports, "logprob")
      .add("forward", forward)
      .add("backward", backward)
      .add("linearForward", linearForward)
      .add("linearBackward", linearBackward);
}

}  // namespace minform
