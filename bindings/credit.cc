#include "minform/credit.h"

#include "addon.h"
#include "minform/cuda/credit.h"
#include "steps.h"

namespace minform {

namespace {

// (form, stepRewards, stepOffsets, mask?, stepEnds?, parameter, rewards, returns, outcomes, weights?) -> status
Napi::Value assign(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 1, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t total = 0;
    const T* rewards = args.array<T>(1, &total);
    const Rows steps = args.rows(2, total);
    const auto form = static_cast<CreditForm>(args.integer(0));
    const CreditInput<T> in{steps, rewards, args.optionalArray<uint8_t>(3, total),
                            args.optionalArray<int32_t>(4, total), args.number(5)};
    const CreditOutput<T> out{args.output<T>(6, total), args.output<T>(7, total), args.output<T>(8, steps.count),
                              args.optionalOutput<T>(9, total)};
    return args.run([&] { return credit<T>().assign(form, in, out); },
                    [&](auto status, auto stream) { cuda::creditAssign(form, in, out, status, stream); });
  });
}

// (stepRewards, stepOffsets, mask?, temperature, gradRewards?, gradReturns?, gradOutcomes?, gradStepRewards) -> status
Napi::Value minFormBackward(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t total = 0;
    const T* rewards = args.array<T>(0, &total);
    const Rows steps = args.rows(1, total);
    const CreditInput<T> in{steps, rewards, args.optionalArray<uint8_t>(2, total), nullptr, args.number(3)};
    const CreditGradients<T> grads{args.optionalArray<T>(4, total), args.optionalArray<T>(5, total),
                                   args.optionalArray<T>(6, steps.count)};
    T* out = args.output<T>(7, total);
    return args.run([&] { return credit<T>().minFormBackward(in, grads, out); },
                    [&](auto status, auto stream) { cuda::creditMinFormBackward(in, grads, out, status, stream); });
  });
}

// (values, stepOffsets, stepEnds, tokenOffsets, place, zeroAt?, mask?, out) -> status
Napi::Value placeSteps(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t count = 0;
    const T* values = args.array<T>(0, &count);
    const KnownRows steps = args.knownRows(1), tokens = args.knownRows(3);
    if (steps.total() != count) args.fail(1, "does not cover the data");
    const int32_t* stepEnds = stepEndsOf(args, 2, tokens.host, steps.host);
    const auto place = static_cast<Place>(args.integer(4));
    const int64_t total = tokens.total();
    const uint8_t* zeroAt = args.optionalArray<uint8_t>(5, total);
    const uint8_t* mask = args.optionalArray<uint8_t>(6, total);
    T* out = args.output<T>(7, total);
    return args.run(
        [&] {
          credit<T>().placeSteps(tokens.rows, steps.rows, stepEnds, values, place, zeroAt, mask, out);
          return kOk;
        },
        [&](auto status, auto stream) {
          cuda::resetStatus(status, stream);
          cuda::creditPlaceSteps(tokens.rows, steps.rows, stepEnds, values, place, zeroAt, mask, out, stream);
        });
  });
}

// (rewards, tokenOffsets, mask?, gamma, out) -> status
Napi::Value returns(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t total = 0;
    const T* rewards = args.array<T>(0, &total);
    const Rows tokens = args.rows(1, total);
    const uint8_t* mask = args.optionalArray<uint8_t>(2, total);
    const double gamma = args.number(3);
    T* out = args.output<T>(4, total);
    return args.run(
        [&] { return credit<T>().returns(tokens, rewards, mask, gamma, out); },
        [&](auto status, auto stream) { cuda::creditReturns(tokens, rewards, mask, gamma, out, status, stream); });
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
  Family(env, exports, "credit")
      .add("assign", assign)
      .add("minFormBackward", minFormBackward)
      .add("placeSteps", placeSteps)
      .add("returns", returns)
      .add("findStepEnds", findSteps);
}

}  // namespace minform
