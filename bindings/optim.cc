#include "minform/optim.h"

#include <vector>

#include "addon.h"
#include "args.h"
#include "minform/cuda/optim.h"

namespace minform {

namespace {

// The word on the device that holds back a step; null on the host.
int64_t* guardAt(const Args& args, size_t at) { return args.onDevice() ? args.optionalArray<int64_t>(at, 1) : nullptr; }

// A scale on the device: the second of { norm, scale }, or null.
const double* scaleAt(const Args& args, size_t at) {
  return args.onDevice() && !args.isMissing(at) ? args.array<double>(at, 2) + 1 : nullptr;
}

// (grads, gradScale, { norm, scale }?, guard) -> status
Napi::Value firstUnusable(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t count = 0;
    const T* grads = args.array<T>(0, &count);
    const double gradScale = args.number(1);
    const double* deviceScale = scaleAt(args, 2);
    int64_t* guard = guardAt(args, 3);
    return args.run([&] { return optim<T>().firstUnusable(grads, count, gradScale); },
                    [&](auto status, auto stream) {
                      cuda::optimCheckGrads(grads, count, gradScale, deviceScale, status, guard, stream);
                    });
  });
}

// (params, grads, firstMoments, secondMoments, step, learningRate, beta1, beta2, epsilon, weightDecay, gradScale,
// { norm, scale }?, guard) -> status
Napi::Value adamW(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t count = 0;
    args.array<T>(0, &count);
    const AdamWTensor<T> tensor{args.output<T>(0, count), args.array<T>(1, count), args.output<T>(2, count),
                                args.output<T>(3, count), count};
    const AdamWOptions options{static_cast<int64_t>(args.number(4)),
                               args.number(5),
                               args.number(6),
                               args.number(7),
                               args.number(8),
                               args.number(9),
                               args.number(10)};
    const double* deviceScale = scaleAt(args, 11);
    const int64_t* guard = guardAt(args, 12);
    return args.run(
        [&] { return optim<T>().adamW(tensor, options); },
        [&](auto status, auto stream) { cuda::optimAdamW(tensor, options, deviceScale, guard, status, stream); });
  });
}

// (maxNorm, { norm, scale }, ...grads) -> status per tensor; on the device one status word per tensor.
Napi::Value gradNorms(const Napi::CallbackInfo& info) {
  const size_t first = 2, words = deviceArray(info[1]) == nullptr ? 0 : 2;
  if (info.Length() <= first + words) Args(info).fail(first, "is missing");
  const size_t tensors = info.Length() - first - words;
  const Args args(info, Args::kAny, tensors);
  return byFloatKind(args, first, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    std::vector<const T*> grads(tensors);
    std::vector<int64_t> counts(tensors), statuses(tensors);
    for (size_t i = 0; i < tensors; i++) grads[i] = args.array<T>(first + i, &counts[i]);
    const auto count = static_cast<int64_t>(tensors);
    const double maxNorm = args.number(0);
    static_assert(sizeof(GradNorm) == 2 * sizeof(double), "norm and scale");
    GradNorm* out = reinterpret_cast<GradNorm*>(args.output<double>(1, 2));
    if (args.onDevice()) {
      return args.start([&](auto status, auto stream) {
        cuda::optimGradNorm(grads.data(), counts.data(), count, maxNorm, out, status, nullptr, stream);
      });
    }
    *out = gradNorm(grads.data(), counts.data(), count, maxNorm, statuses.data());
    Napi::Array result = Napi::Array::New(args.env(), tensors);
    for (size_t i = 0; i < tensors; i++) {
      result.Set(static_cast<uint32_t>(i), Napi::Number::New(args.env(), static_cast<double>(statuses[i])));
    }
    return result;
  });
}

// (values, factor) -> status. On the device the factor is the scale of { norm, scale }.
Napi::Value scale(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t count = 0;
    args.array<T>(0, &count);
    T* values = args.output<T>(0, count);
    const double* found = args.onDevice() ? args.array<double>(1, 2) : nullptr;
    return args.run(
        [&] {
          optim<T>().scale(values, count, args.number(1));
          return kOk;
        },
        [&](auto status, auto stream) {
          cuda::resetStatus(status, stream);
          cuda::optimScale(values, count, found + 1, stream);
        });
  });
}

}  // namespace

void registerOptim(Napi::Env env, Napi::Object exports) {
  Family(env, exports, "optim")
      .add("firstUnusable", firstUnusable)
      .add("adamW", adamW)
      .add("gradNorm", gradNorms)
      .add("scale", scale);
}

}  // namespace minform
