#include "minform/optim.h"

#include "addon.h"
#include "args.h"

namespace minform {

namespace {

Napi::Value index(const Args& args, int64_t status) {
  return Napi::Number::New(args.env(), static_cast<double>(status));
}

// (grads, gradScale) -> status
Napi::Value firstUnusable(const Napi::CallbackInfo& info) {
  const Args args(info);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t count = 0;
    const T* grads = args.array<T>(0, &count);
    return index(args, optim<T>().firstUnusable(grads, count, args.number(1)));
  });
}

// (params, grads, firstMoments, secondMoments, step, learningRate, beta1, beta2, epsilon, weightDecay, gradScale) ->
// status
Napi::Value adamW(const Napi::CallbackInfo& info) {
  const Args args(info);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t count = 0;
    T* params = args.array<T>(0, &count);
    const AdamWTensor<T> tensor{params, args.array<T>(1, count), args.array<T>(2, count), args.array<T>(3, count),
                                count};
    const AdamWOptions options{static_cast<int64_t>(args.number(4)),
                               args.number(5),
                               args.number(6),
                               args.number(7),
                               args.number(8),
                               args.number(9),
                               args.number(10)};
    return index(args, optim<T>().adamW(tensor, options));
  });
}

// (values, scale) -> sum of squares
Napi::Value sumOfSquares(const Napi::CallbackInfo& info) {
  const Args args(info);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t count = 0;
    const T* values = args.array<T>(0, &count);
    return Napi::Number::New(args.env(), optim<T>().sumOfSquares(values, count, args.number(1)));
  });
}

// (values) -> { largest, bad }
Napi::Value largestMagnitude(const Napi::CallbackInfo& info) {
  const Args args(info);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t count = 0, bad = kOk;
    const T* values = args.array<T>(0, &count);
    Napi::Object result = Napi::Object::New(args.env());
    result.Set("largest", optim<T>().largestMagnitude(values, count, &bad));
    result.Set("bad", index(args, bad));
    return result;
  });
}

// (values, factor)
void scale(const Napi::CallbackInfo& info) {
  const Args args(info);
  byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t count = 0;
    T* values = args.array<T>(0, &count);
    optim<T>().scale(values, count, args.number(1));
    return args.env().Undefined();
  });
}

}  // namespace

void registerOptim(Napi::Env env, Napi::Object exports) {
  Napi::Object family = Napi::Object::New(env);
  family.Set("firstUnusable", Napi::Function::New(env, firstUnusable, "firstUnusable"));
  family.Set("adamW", Napi::Function::New(env, adamW, "adamW"));
  family.Set("sumOfSquares", Napi::Function::New(env, sumOfSquares, "sumOfSquares"));
  family.Set("largestMagnitude", Napi::Function::New(env, largestMagnitude, "largestMagnitude"));
  family.Set("scale", Napi::Function::New(env, scale, "scale"));
  exports.Set("optim", family);
}

}  // namespace minform
