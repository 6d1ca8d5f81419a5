#include "minform/advantage.h"

#include "addon.h"
#include "minform/cuda/advantage.h"
#include "steps.h"

namespace minform {

namespace {

// (groupIndex, groupCount, rawSingletons, excludeNaN) from `first` on; the kernels count by index.
Groups groupsAt(const Args& args, size_t first, int64_t rows) {
  const Known<int32_t> index = args.known<int32_t>(first, rows);
  const Groups groups{index.data, args.integer(first + 1), args.flag(first + 2), args.flag(first + 3)};
  if (groups.count < 0) args.fail(first + 1, "is negative");
  for (int64_t i = 0; i < rows; i++) {
    if (index.host[i] < 0 || index.host[i] >= groups.count) args.fail(first, "leaves the groups");
  }
  return groups;
}

// A BigInt64Array of five, wherever the call is.
GroupStats* statsAt(const Args& args, size_t index) {
  static_assert(sizeof(GroupStats) == 5 * sizeof(int64_t), "GroupStats is five numbers");
  GroupStats* stats = reinterpret_cast<GroupStats*>(args.output<int64_t>(index, 5));
  if (!args.onDevice()) *stats = GroupStats{};
  return stats;
}

// (form, std, epsilon, ddof, rewards, lengths?, groups x 4, out, stats) -> status
Napi::Value outcomes(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 4, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    const OutcomeRule rule{static_cast<OutcomeForm>(args.integer(0)), static_cast<GroupStd>(args.integer(1)),
                           args.number(2), args.integer(3)};
    int64_t rows = 0;
    const T* rewards = args.array<T>(4, &rows);
    const OutcomeInput<T> in{rewards, args.optionalArray<double>(5, rows), rows};
    if (rule.form == OutcomeForm::opo && in.lengths == nullptr) args.fail(5, "is missing");
    const Groups groups = groupsAt(args, 6, rows);
    T* out = args.output<T>(10, rows);
    GroupStats* stats = statsAt(args, 11);
    return args.run(
        [&] { return advantage<T>().outcomes(rule, in, groups, out, stats); },
        [&](auto status, auto stream) { cuda::advantageOutcomes(rule, in, groups, out, stats, status, stream); });
  });
}

BaselineRule baselineAt(const Args& args) {
  return {static_cast<Baseline>(args.integer(0)), args.flag(1), args.number(2)};
}

// (baseline, countSeparators, minTokens, rewards, tokenOffsets, mask?, stepOffsets?, stepEnds?, kl?, coefficient,
//  klAfterBaseline, groups x 4, advantages, returns?, stats) -> status
Napi::Value tokenRloo(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 3, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t total = 0;
    const T* rewards = args.array<T>(3, &total);
    const KnownRows tokens = args.knownRows(4);
    if (tokens.total() != total) args.fail(4, "does not cover the data");
    TokenRewards<T> in{tokens.rows,
                       rewards,
                       args.optionalArray<uint8_t>(5, total),
                       {},
                       nullptr,
                       args.optionalArray<T>(8, total),
                       args.number(9),
                       args.flag(10)};
    if (!args.isMissing(7)) {
      const KnownRows steps = args.knownRows(6);
      in.stepEnds = stepEndsOf(args, 7, tokens.host, steps.host);
      in.steps = steps.rows;
    }
    const Groups groups = groupsAt(args, 11, tokens.host.count);
    const BaselineRule rule = baselineAt(args);
    T* advantages = args.output<T>(15, total);
    T* returns = args.optionalOutput<T>(16, total);
    GroupStats* stats = statsAt(args, 17);
    return args.run([&] { return advantage<T>().tokenRloo(rule, in, groups, advantages, returns, stats); },
                    [&](auto status, auto stream) {
                      cuda::advantageTokenRloo(rule, in, groups, advantages, returns, stats, status, stream);
                    });
  });
}

// (baseline, countSeparators, minTokens, stepRewards, stepOffsets, stepEnds, tokenOffsets, mask?, groups x 4,
//  advantages, returns?, stats) -> status
Napi::Value stepRloo(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 3, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t stepCount = 0;
    const T* rewards = args.array<T>(3, &stepCount);
    const KnownRows steps = args.knownRows(4), tokens = args.knownRows(6);
    if (steps.total() != stepCount) args.fail(4, "does not cover the data");
    const int32_t* stepEnds = stepEndsOf(args, 5, tokens.host, steps.host);
    const int64_t total = tokens.total();
    const StepRewards<T> in{tokens.rows, steps.rows, rewards, stepEnds, args.optionalArray<uint8_t>(7, total)};
    const Groups groups = groupsAt(args, 8, tokens.host.count);
    const BaselineRule rule = baselineAt(args);
    T* advantages = args.output<T>(12, total);
    T* returns = args.optionalOutput<T>(13, total);
    GroupStats* stats = statsAt(args, 14);
    return args.run([&] { return advantage<T>().stepRloo(rule, in, groups, advantages, returns, stats); },
                    [&](auto status, auto stream) {
                      cuda::advantageStepRloo(rule, in, groups, advantages, returns, stats, status, stream);
                    });
  });
}

// (rewards, tokenOffsets, mask?, gamma, baselines?, advantages, returns) -> status
Napi::Value rewardToGo(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t total = 0;
    const T* rewards = args.array<T>(0, &total);
    const Rows tokens = args.rows(1, total);
    const uint8_t* mask = args.optionalArray<uint8_t>(2, total);
    const double gamma = args.number(3);
    const T* baselines = args.optionalArray<T>(4, tokens.count);
    T* advantages = args.output<T>(5, total);
    T* returns = args.output<T>(6, total);
    return args.run(
        [&] { return advantage<T>().rewardToGo(tokens, rewards, mask, gamma, baselines, advantages, returns); },
        [&](auto status, auto stream) {
          cuda::advantageRewardToGo(tokens, rewards, mask, gamma, baselines, advantages, returns, status, stream);
        });
  });
}

// (rewards, values, tokenOffsets, mask?, bootstrap?, gamma, lambda, valueLambda, advantages, returns) -> status
Napi::Value gae(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t total = 0;
    const T* rewards = args.array<T>(0, &total);
    const Rows tokens = args.rows(2, total);
    const GaeInput<T> in{tokens,
                         rewards,
                         args.array<T>(1, total),
                         args.optionalArray<uint8_t>(3, total),
                         args.optionalArray<T>(4, tokens.count),
                         args.number(5),
                         args.number(6),
                         args.number(7)};
    T* advantages = args.output<T>(8, total);
    T* returns = args.output<T>(9, total);
    return args.run([&] { return advantage<T>().gae(in, advantages, returns); },
                    [&](auto status, auto stream) { cuda::advantageGae(in, advantages, returns, status, stream); });
  });
}

// (rewards, logProbs, sumSquaredProbs, tokenOffsets, mask?, gamma, groups x 4, advantages, returns, stats) -> status
Napi::Value optimalBaseline(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t total = 0;
    const T* rewards = args.array<T>(0, &total);
    const Rows tokens = args.rows(3, total);
    const OptimalBaselineInput<T> in{
        tokens,        rewards, args.array<T>(1, total), args.array<T>(2, total), args.optionalArray<uint8_t>(4, total),
        args.number(5)};
    const Groups groups = groupsAt(args, 6, tokens.count);
    T* advantages = args.output<T>(10, total);
    T* returns = args.output<T>(11, total);
    GroupStats* stats = statsAt(args, 12);
    return args.run([&] { return advantage<T>().optimalBaseline(in, groups, advantages, returns, stats); },
                    [&](auto status, auto stream) {
                      cuda::advantageOptimalBaseline(in, total, groups, advantages, returns, stats, status, stream);
                    });
  });
}

// (values, mask?, shiftMean, epsilon, ddof, out) -> status
Napi::Value whiten(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t total = 0;
    const T* values = args.array<T>(0, &total);
    const WhitenRule rule{args.flag(2), args.number(3), args.integer(4)};
    const uint8_t* mask = args.optionalArray<uint8_t>(1, total);
    T* out = args.output<T>(5, total);
    return args.run(
        [&] { return advantage<T>().whiten(rule, total, values, mask, out); },
        [&](auto status, auto stream) { cuda::advantageWhiten(rule, total, values, mask, out, status, stream); });
  });
}

// (base?, perRow, tokenOffsets, scale, spread, mask?, out) -> status
Napi::Value addPerRow(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 1, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    const KnownRows known = args.knownRows(2);
    const int64_t total = known.total();
    const Rows tokens = known.rows;
    const T* base = args.optionalArray<T>(0, total);
    const T* perRow = args.array<T>(1, tokens.count);
    const double scale = args.number(3);
    const auto spread = static_cast<Spread>(args.integer(4));
    const uint8_t* mask = args.optionalArray<uint8_t>(5, total);
    T* out = args.output<T>(6, total);
    return args.run([&] { return advantage<T>().addPerRow(tokens, base, perRow, scale, spread, mask, out); },
                    [&](auto status, auto stream) {
                      cuda::advantageAddPerRow(tokens, base, perRow, scale, spread, mask, out, status, stream);
                    });
  });
}

// (verifiable, shift, out) -> status
Napi::Value codeVerifiable(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t rows = 0;
    const T* verifiable = args.array<T>(0, &rows);
    const double shift = args.number(1);
    T* out = args.output<T>(2, rows);
    return args.run(
        [&] { return advantage<T>().codeVerifiable(rows, verifiable, shift, out); },
        [&](auto status, auto stream) { cuda::advantageCodeVerifiable(rows, verifiable, shift, out, status, stream); });
  });
}

// (rewards, tokenOffsets, mask?, out) -> status
Napi::Value scorableTokens(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    const KnownRows known = args.knownRows(1);
    const Rows tokens = known.rows;
    const T* rewards = args.array<T>(0, tokens.count);
    const uint8_t* mask = args.optionalArray<uint8_t>(2, known.total());
    uint8_t* out = args.output<uint8_t>(3, known.total());
    return args.run([&] { return advantage<T>().scorableTokens(tokens, rewards, mask, out); },
                    [&](auto status, auto stream) {
                      cuda::resetStatus(status, stream);
                      cuda::advantageScorableTokens(tokens, rewards, mask, out, stream);
                    });
  });
}

// (rewards, kl, tokenOffsets, coefficient, mask?, out) -> status
Napi::Value klReward(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t total = 0;
    const T* rewards = args.array<T>(0, &total);
    const Rows tokens = args.rows(2, total);
    const T* kl = args.array<T>(1, total);
    const double coefficient = args.number(3);
    const uint8_t* mask = args.optionalArray<uint8_t>(4, total);
    T* out = args.output<T>(5, total);
    return args.run([&] { return advantage<T>().klReward(tokens, rewards, kl, coefficient, mask, out); },
                    [&](auto status, auto stream) {
                      cuda::advantageKlReward(total, rewards, kl, coefficient, mask, out, status, stream);
                    });
  });
}

}  // namespace

void registerAdvantage(Napi::Env env, Napi::Object exports) {
  Family(env, exports, "advantage")
      .add("outcomes", outcomes)
      .add("tokenRloo", tokenRloo)
      .add("stepRloo", stepRloo)
      .add("rewardToGo", rewardToGo)
      .add("gae", gae)
      .add("optimalBaseline", optimalBaseline)
      .add("whiten", whiten)
      .add("addPerRow", addPerRow)
      .add("codeVerifiable", codeVerifiable)
      .add("scorableTokens", scorableTokens)
      .add("klReward", klReward);
}

}  // namespace minform
