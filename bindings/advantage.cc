#include "minform/advantage.h"

#include "addon.h"
#include "steps.h"

namespace minform {

namespace {

Napi::Value statusOf(const Args& args, int64_t status) {
  return Napi::Number::New(args.env(), static_cast<double>(status));
}

// (groupIndex, groupCount, rawSingletons, excludeNaN) from `first` on; the kernels count by index.
Groups groupsAt(const Args& args, size_t first, int64_t rows) {
  const Groups groups{args.array<int32_t>(first, rows), args.integer(first + 1), args.flag(first + 2),
                      args.flag(first + 3)};
  if (groups.count < 0) args.fail(first + 1, "is negative");
  for (int64_t i = 0; i < rows; i++) {
    if (groups.index[i] < 0 || groups.index[i] >= groups.count) args.fail(first, "leaves the groups");
  }
  return groups;
}

// Written to a Float64Array of five: groups, singletons, zero variance, excluded, first singleton.
void writeStats(const Args& args, size_t index, const GroupStats& stats) {
  double* out = args.array<double>(index, 5);
  const int64_t values[] = {stats.groups, stats.singletons, stats.zeroVariance, stats.excluded, stats.firstSingleton};
  for (int i = 0; i < 5; i++) out[i] = static_cast<double>(values[i]);
}

// (form, std, epsilon, ddof, rewards, lengths?, groups x 4, out, stats) -> status
Napi::Value outcomes(const Napi::CallbackInfo& info) {
  const Args args(info);
  return byFloatKind(args, 4, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    const OutcomeRule rule{static_cast<OutcomeForm>(args.integer(0)), static_cast<GroupStd>(args.integer(1)),
                           args.number(2), args.integer(3)};
    int64_t rows = 0;
    const T* rewards = args.array<T>(4, &rows);
    const OutcomeInput<T> in{rewards, args.optionalArray<double>(5, rows), rows};
    if (rule.form == OutcomeForm::opo && in.lengths == nullptr) args.fail(5, "is missing");
    const Groups groups = groupsAt(args, 6, rows);
    GroupStats stats;
    const int64_t status = advantage<T>().outcomes(rule, in, groups, args.array<T>(10, rows), &stats);
    writeStats(args, 11, stats);
    return statusOf(args, status);
  });
}

BaselineRule baselineAt(const Args& args) {
  return {static_cast<Baseline>(args.integer(0)), args.flag(1), args.number(2)};
}

// (baseline, countSeparators, minTokens, rewards, tokenOffsets, mask?, stepOffsets?, stepEnds?, kl?, coefficient,
//  klAfterBaseline, groups x 4, advantages, returns?, stats) -> status
Napi::Value tokenRloo(const Napi::CallbackInfo& info) {
  const Args args(info);
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
    GroupStats stats;
    const int64_t status = advantage<T>().tokenRloo(baselineAt(args), in, groups, args.array<T>(15, total),
                                                    args.optionalArray<T>(16, total), &stats);
    writeStats(args, 17, stats);
    return statusOf(args, status);
  });
}

// (baseline, countSeparators, minTokens, stepRewards, stepOffsets, stepEnds, tokenOffsets, mask?, groups x 4,
//  advantages, returns?, stats) -> status
Napi::Value stepRloo(const Napi::CallbackInfo& info) {
  const Args args(info);
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
    GroupStats stats;
    const int64_t status = advantage<T>().stepRloo(baselineAt(args), in, groups, args.array<T>(12, total),
                                                   args.optionalArray<T>(13, total), &stats);
    writeStats(args, 14, stats);
    return statusOf(args, status);
  });
}

// (rewards, tokenOffsets, mask?, gamma, baselines?, advantages, returns) -> status
Napi::Value rewardToGo(const Napi::CallbackInfo& info) {
  const Args args(info);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t total = 0;
    const T* rewards = args.array<T>(0, &total);
    const Rows tokens = args.rows(1, total);
    return statusOf(args, advantage<T>().rewardToGo(tokens, rewards, args.optionalArray<uint8_t>(2, total),
                                                    args.number(3), args.optionalArray<T>(4, tokens.count),
                                                    args.array<T>(5, total), args.array<T>(6, total)));
  });
}

// (rewards, values, tokenOffsets, mask?, bootstrap?, gamma, lambda, valueLambda, advantages, returns) -> status
Napi::Value gae(const Napi::CallbackInfo& info) {
  const Args args(info);
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
    return statusOf(args, advantage<T>().gae(in, args.array<T>(8, total), args.array<T>(9, total)));
  });
}

// (rewards, logProbs, sumSquaredProbs, tokenOffsets, mask?, gamma, groups x 4, advantages, returns, stats) -> status
Napi::Value optimalBaseline(const Napi::CallbackInfo& info) {
  const Args args(info);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t total = 0;
    const T* rewards = args.array<T>(0, &total);
    const Rows tokens = args.rows(3, total);
    const OptimalBaselineInput<T> in{
        tokens,        rewards, args.array<T>(1, total), args.array<T>(2, total), args.optionalArray<uint8_t>(4, total),
        args.number(5)};
    const Groups groups = groupsAt(args, 6, tokens.count);
    GroupStats stats;
    const int64_t status =
        advantage<T>().optimalBaseline(in, groups, args.array<T>(10, total), args.array<T>(11, total), &stats);
    writeStats(args, 12, stats);
    return statusOf(args, status);
  });
}

// (values, mask?, shiftMean, epsilon, ddof, out) -> status
Napi::Value whiten(const Napi::CallbackInfo& info) {
  const Args args(info);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t total = 0;
    const T* values = args.array<T>(0, &total);
    const WhitenRule rule{args.flag(2), args.number(3), args.integer(4)};
    return statusOf(args, advantage<T>().whiten(rule, total, values, args.optionalArray<uint8_t>(1, total),
                                                args.array<T>(5, total)));
  });
}

// (base?, perRow, tokenOffsets, scale, spread, mask?, out) -> status
Napi::Value addPerRow(const Napi::CallbackInfo& info) {
  const Args args(info);
  return byFloatKind(args, 1, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    const KnownRows known = args.knownRows(2);
    const int64_t total = known.total();
    const Rows tokens = known.rows;
    return statusOf(args,
                    advantage<T>().addPerRow(tokens, args.optionalArray<T>(0, total), args.array<T>(1, tokens.count),
                                             args.number(3), static_cast<Spread>(args.integer(4)),
                                             args.optionalArray<uint8_t>(5, total), args.array<T>(6, total)));
  });
}

// (rewards, kl, tokenOffsets, coefficient, mask?, out) -> status
Napi::Value klReward(const Napi::CallbackInfo& info) {
  const Args args(info);
  return byFloatKind(args, 0, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    int64_t total = 0;
    const T* rewards = args.array<T>(0, &total);
    const Rows tokens = args.rows(2, total);
    return statusOf(args, advantage<T>().klReward(tokens, rewards, args.array<T>(1, total), args.number(3),
                                                  args.optionalArray<uint8_t>(4, total), args.array<T>(5, total)));
  });
}

}  // namespace

void registerAdvantage(Napi::Env env, Napi::Object exports) {
  Napi::Object family = Napi::Object::New(env);
  family.Set("outcomes", Napi::Function::New(env, outcomes, "outcomes"));
  family.Set("tokenRloo", Napi::Function::New(env, tokenRloo, "tokenRloo"));
  family.Set("stepRloo", Napi::Function::New(env, stepRloo, "stepRloo"));
  family.Set("rewardToGo", Napi::Function::New(env, rewardToGo, "rewardToGo"));
  family.Set("gae", Napi::Function::New(env, gae, "gae"));
  family.Set("optimalBaseline", Napi::Function::New(env, optimalBaseline, "optimalBaseline"));
  family.Set("whiten", Napi::Function::New(env, whiten, "whiten"));
  family.Set("addPerRow", Napi::Function::New(env, addPerRow, "addPerRow"));
  family.Set("klReward", Napi::Function::New(env, klReward, "klReward"));
  exports.Set("advantage", family);
}

}  // namespace minform
