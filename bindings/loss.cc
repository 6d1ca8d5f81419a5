#include "minform/loss.h"

#include "addon.h"
#include "args.h"
#include "minform/cuda/loss.h"

namespace minform {

namespace {

// Five arguments from `index` on: mode, groups? (one per row), promptTokens? (one per row), denominator (NaN: own
// count), slots.
struct AggregationArgs {
  Aggregation aggregation;
  double* slots;

  AggregationArgs(const Args& args, size_t index, int64_t rows) {
    Known<int32_t> groups{nullptr, nullptr};
    if (!args.isMissing(index + 1)) groups = args.known<int32_t>(index + 1, rows);
    int64_t groupCount = 0;
    for (int64_t row = 0; groups.host != nullptr && row < rows; row++) {
      if (groups.host[row] < 0 || groups.host[row] >= rows) args.fail(index + 1, "holds a group outside [0, rows)");
      if (groups.host[row] >= groupCount) groupCount = groups.host[row] + 1;
    }
    const double* promptTokens = args.optionalArray<double>(index + 2, rows);
    const auto mode = static_cast<AggregationMode>(args.integer(index));
    if (mode == AggregationMode::promptMean && args.isMissing(index + 1) && args.isMissing(index + 2)) {
      args.fail(index + 1, "is missing");
    }
    aggregation = {mode, groups.data, groupCount, promptTokens, args.number(index + 3)};
    slots = args.output<double>(index + 4, kLossSlots);
  }
};

// (loss, parameters[7], logProbs, offsets, oldLogProbs?, advantages, importanceWeights?, mask?, aggregation x 5, grad,
// perRow) -> status. Advantages: one per token, or with perRow one per row.
Napi::Value policyLoss(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 2, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    const auto which = static_cast<PolicyLoss>(args.integer(0));
    const double* p = args.parameters<double>(1, 7);
    int64_t total = 0, advantageCount = 0;
    const T* logProbs = args.array<T>(2, &total);
    const Rows rows = args.rows(3, total);
    const T* old = args.optionalArray<T>(4, total);
    if (args.isMissing(4) && which != PolicyLoss::reinforce) args.fail(4, "is missing");
    const bool perRow = args.flag(14);
    const T* advantages = args.array<T>(5, &advantageCount);
    if (advantageCount != (perRow ? rows.count : total)) args.fail(5, "has the wrong length");
    const PolicyInput<T> in{rows,
                            logProbs,
                            old,
                            advantages,
                            perRow,
                            args.optionalArray<T>(6, total),
                            args.optionalArray<uint8_t>(7, total)};
    const AggregationArgs how(args, 8, rows.count);
    const PolicyParameters parameters{which, p[0], p[1], p[2], p[3], p[4], p[5], p[6]};
    T* grad = args.output<T>(13, total);
    return args.run([&] { return loss<T>().policy(parameters, in, how.aggregation, grad, how.slots); },
                    [&](auto status, auto stream) {
                      cuda::lossPolicy(parameters, in, total, how.aggregation, grad, how.slots, status, stream);
                    });
  });
}

// (estimator, gradient, logRatioClamp, logProbs, offsets, refLogProbs, oldLogProbs?, mask?, aggregation x 5, values,
// grad) -> status
Napi::Value klPenalty(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 3, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t total = 0;
    const T* logProbs = args.array<T>(3, &total);
    const Rows rows = args.rows(4, total);
    const KlInput<T> in{rows,
                        logProbs,
                        args.array<T>(5, total),
                        args.optionalArray<T>(6, total),
                        args.optionalArray<uint8_t>(7, total),
                        static_cast<KlEstimator>(args.integer(0)),
                        static_cast<KlGradient>(args.integer(1)),
                        args.number(2)};
    const AggregationArgs how(args, 8, rows.count);
    T* values = args.output<T>(13, total);
    T* grad = args.output<T>(14, total);
    return args.run([&] { return loss<T>().kl(in, how.aggregation, values, grad, how.slots); },
                    [&](auto status, auto stream) {
                      cuda::lossKl(in, total, how.aggregation, values, grad, how.slots, status, stream);
                    });
  });
}

// (clipRange, values, offsets, oldValues?, returns, mask?, aggregation x 5, grad) -> status
Napi::Value valueLoss(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 1, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t total = 0;
    const T* values = args.array<T>(1, &total);
    const Rows rows = args.rows(2, total);
    const ValueInput<T> in{rows,
                           values,
                           args.optionalArray<T>(3, total),
                           args.array<T>(4, total),
                           args.optionalArray<uint8_t>(5, total),
                           args.number(0)};
    const AggregationArgs how(args, 6, rows.count);
    T* grad = args.output<T>(11, total);
    return args.run([&] { return loss<T>().value(in, how.aggregation, grad, how.slots); },
                    [&](auto status, auto stream) {
                      cuda::lossValue(in, total, how.aggregation, grad, how.slots, status, stream);
                    });
  });
}

// (entropy, offsets, mask?, aggregation x 5, grad) -> status
Napi::Value entropyBonus(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t total = 0;
    const T* entropy = args.array<T>(0, &total);
    const Rows rows = args.rows(1, total);
    const AggregationArgs how(args, 3, rows.count);
    const uint8_t* mask = args.optionalArray<uint8_t>(2, total);
    T* grad = args.output<T>(8, total);
    return args.run([&] { return loss<T>().entropy(rows, entropy, mask, how.aggregation, grad, how.slots); },
                    [&](auto status, auto stream) {
                      cuda::lossEntropy(rows, total, entropy, mask, how.aggregation, grad, how.slots, status, stream);
                    });
  });
}

// (correction, level, parameters[4], oldLogProbs, offsets, rolloutLogProbs, mask?, weights, kept, slots) -> status
Napi::Value importanceWeights(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 3, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t total = 0;
    const double* p = args.parameters<double>(2, 4);
    const T* old = args.array<T>(3, &total);
    const Rows rows = args.rows(4, total);
    const WeightInput<T> in{rows,
                            old,
                            args.array<T>(5, total),
                            args.optionalArray<uint8_t>(6, total),
                            static_cast<Correction>(args.integer(0)),
                            static_cast<WeightLevel>(args.integer(1)),
                            p[0],
                            p[1],
                            p[2],
                            p[3]};
    T* weights = args.output<T>(7, total);
    uint8_t* kept = args.output<uint8_t>(8, total);
    double* slots = args.output<double>(9, kLossSlots);
    return args.run([&] { return loss<T>().importanceWeights(in, weights, kept, slots); },
                    [&](auto status, auto stream) {
                      cuda::lossImportanceWeights(in, total, weights, kept, slots, status, stream);
                    });
  });
}

}  // namespace

void registerLoss(Napi::Env env, Napi::Object exports) {
  Family(env, exports, "loss")
      .add("policyLoss", policyLoss)
      .add("klPenalty", klPenalty)
      .add("valueLoss", valueLoss)
      .add("entropyBonus", entropyBonus)
      .add("importanceWeights", importanceWeights);
}

}  // namespace minform
