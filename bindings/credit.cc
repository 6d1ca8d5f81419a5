#include "minform/credit.h"

#include "addon.h"
#include "steps.h"

namespace minform {

namespace {

// (form, stepRewards, stepOffsets, mask?, stepEnds?, parameter, rewards, returns, outcomes, weights?) -> status
Napi::Value assign(const Napi::CallbackInfo& info) {
  const Args args(info);
  return byFloatKind(args, 1, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t total = 0;
    const T* rewards = args.array<T>(1, &total);
    const Rows steps = args.rows(2, total);
    const CreditInput<T> in{steps, rewards, args.optionalArray<uint8_t>(3, total),
                            args.optionalArray<int32_t>(4, total), args.number(5)};
    const CreditOutput<T> out{args.array<T>(6, total), args.array<T>(7, total), args.array<T>(8, steps.count),
                              args.optionalArray<T>(9, total)};
    return Napi::Number::New(
        info.Env(), static_cast<double>(credit<T>().assign(static_cast<CreditForm>(args.integer(0)), in, out)));
  });
}

// (stepRewards, stepOffsets, mask?, temperature, gradRewards?, gradReturns?, gradOutcomes?, gradStepRewards) -> status
Napi::Value minFormBackward(const Napi::CallbackInfo& info) {
  const Args args(info);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t total = 0;
    const T* rewards = args.array<T>(0, &total);
    const Rows steps = args.rows(1, total);
    const CreditInput<T> in{steps, rewards, args.optionalArray<uint8_t>(2, total), nullptr, args.number(3)};
    const CreditGradients<T> grads{args.optionalArray<T>(4, total), args.optionalArray<T>(5, total),
                                   args.optionalArray<T>(6, steps.count)};
    return Napi::Number::New(info.Env(),
                             static_cast<double>(credit<T>().minFormBackward(in, grads, args.array<T>(7, total))));
  });
}

// (values, stepOffsets, stepEnds, tokenOffsets, place, zeroAt?, mask?, out)
void placeSteps(const Napi::CallbackInfo& info) {
  const Args args(info);
  byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t total = 0;
    const T* values = args.array<T>(0, &total);
    const Rows steps = args.rows(1, total);
    const int32_t* stepEnds = args.array<int32_t>(2, total);
    const Rows tokens = args.rows(3);
    checkStepEnds(args, 2, tokens, steps, stepEnds);
    credit<T>().placeSteps(tokens, steps, stepEnds, values, static_cast<Place>(args.integer(4)),
                           args.optionalArray<uint8_t>(5, tokens.total()),
                           args.optionalArray<uint8_t>(6, tokens.total()), args.array<T>(7, tokens.total()));
    return info.Env().Undefined();
  });
}

// (rewards, tokenOffsets, mask?, gamma, out) -> status
Napi::Value returns(const Napi::CallbackInfo& info) {
  const Args args(info);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t total = 0;
    const T* rewards = args.array<T>(0, &total);
    const Rows tokens = args.rows(1, total);
    return Napi::Number::New(
        info.Env(), static_cast<double>(credit<T>().returns(tokens, rewards, args.optionalArray<uint8_t>(2, total),
                                                            args.number(3), args.array<T>(4, total))));
  });
}

// (tokenIds, tokenOffsets, mask?, separators, eos, stepEnds, stepOffsets, separatorTokens) -> number of steps
Napi::Value findSteps(const Napi::CallbackInfo& info) {
  const Args args(info);
  int64_t total = 0, separatorCount = 0, eosCount = 0;
  const int32_t* ids = args.array<int32_t>(0, &total);
  const Rows tokens = args.rows(1, total);
  const int32_t* separators = args.array<int32_t>(3, &separatorCount);
  const int32_t* eos = args.array<int32_t>(4, &eosCount);
  return Napi::Number::New(info.Env(), static_cast<double>(findStepEnds(
                                           tokens, ids, args.optionalArray<uint8_t>(2, total), separators,
                                           separatorCount, eos, eosCount, args.array<int32_t>(5, total),
                                           args.array<int32_t>(6, tokens.count + 1), args.array<uint8_t>(7, total))));
}

}  // namespace

void registerCredit(Napi::Env env, Napi::Object exports) {
  Napi::Object family = Napi::Object::New(env);
  family.Set("assign", Napi::Function::New(env, assign, "assign"));
  family.Set("minFormBackward", Napi::Function::New(env, minFormBackward, "minFormBackward"));
  family.Set("placeSteps", Napi::Function::New(env, placeSteps, "placeSteps"));
  family.Set("returns", Napi::Function::New(env, returns, "returns"));
  family.Set("findStepEnds", Napi::Function::New(env, findSteps, "findStepEnds"));
  exports.Set("credit", family);
}

}  // namespace minform
