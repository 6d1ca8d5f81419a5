#include "minform/advantage.h"

#include "groups.h"
#include "minform/cuda/advantage.h"

using namespace minform;
using namespace minform::c;

namespace {

BaselineRule baselineOf(const minform_baseline_rule* rule) {
  require(rule != nullptr, "rule: expected a minform_baseline_rule, got NULL");
  require(rule->baseline >= MINFORM_BASELINE_OUTCOME && rule->baseline <= MINFORM_BASELINE_TOKEN,
          "rule->baseline: expected a minform_baseline");
  require(rule->min_tokens >= 0, "rule->min_tokens: expected a number >= 0");
  return {static_cast<Baseline>(rule->baseline), rule->count_separators != 0, rule->min_tokens};
}

}  // namespace

minform_error minform_outcomes(const minform_call* call, minform_dtype dtype, minform_outcome_form form,
                               minform_group_std std, double epsilon, int32_t ddof, int64_t rows, const void* rewards,
                               const double* lengths, const minform_groups* groups, void* advantages,
                               minform_group_stats* stats) {
  return guarded([&] {
    require(form >= MINFORM_RLOO && form <= MINFORM_OPO, "form: expected a minform_outcome_form");
    require(std >= MINFORM_STD_NONE && std <= MINFORM_STD_BATCH, "std: expected a minform_group_std");
    require(form != MINFORM_PASS_K || std != MINFORM_STD_BATCH, "std: expected NONE or GROUP for PASS_K");
    require(epsilon >= 0, "epsilon: expected a number >= 0");
    require(ddof == 0 || ddof == 1, "ddof: expected 0 or 1");
    require(rows >= 1 && rows <= 2147483647, "rows: expected at least one response");
    require(rewards != nullptr && advantages != nullptr, "rewards, advantages: expected memory, got NULL");
    require((lengths != nullptr) == (form == MINFORM_OPO), "lengths: expected them exactly for OPO");
    const Groups within = groupsOf(call, groups, rows);
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const OutcomeRule rule{static_cast<OutcomeForm>(form), static_cast<GroupStd>(std), epsilon, ddof};
      const OutcomeInput<T> in{static_cast<const T*>(rewards), lengths, rows};
      T* out = static_cast<T*>(advantages);
      return runInGroups(
          call, stats, [&](GroupStats* found) { return advantage<T>().outcomes(rule, in, within, out, found); },
          [&](auto found, auto status, auto stream) {
            cuda::advantageOutcomes(rule, in, within, out, found, status, stream);
          });
    });
  });
}

minform_error minform_token_rloo(const minform_call* call, minform_dtype dtype, const minform_baseline_rule* rule,
                                 int64_t rows, int64_t total, const int32_t* offsets, const void* rewards,
                                 const uint8_t* mask, int64_t total_steps, const int32_t* step_offsets,
                                 const int32_t* step_ends, const void* kl, double kl_coefficient,
                                 int32_t kl_after_baseline, const minform_groups* groups, void* advantages,
                                 void* returns, minform_group_stats* stats) {
  return guarded([&] {
    const BaselineRule how = baselineOf(rule);
    require(rewards != nullptr && advantages != nullptr, "rewards, advantages: expected memory, got NULL");
    require(kl_coefficient - kl_coefficient == 0, "kl_coefficient: expected a finite number");
    const Rows tokens = rowsOf(call, offsets, rows, total);
    const Rows steps =
        step_ends == nullptr ? Rows{nullptr, 0} : stepsOf(call, tokens, step_offsets, total_steps, step_ends);
    const Groups within = groupsOf(call, groups, rows);
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const TokenRewards<T> in{tokens,    static_cast<const T*>(rewards), mask,           steps,
                               step_ends, static_cast<const T*>(kl),      kl_coefficient, kl_after_baseline != 0};
      T* out = static_cast<T*>(advantages);
      T* sums = static_cast<T*>(returns);
      return runInGroups(
          call, stats, [&](GroupStats* found) { return advantage<T>().tokenRloo(how, in, within, out, sums, found); },
          [&](auto found, auto status, auto stream) {
            cuda::advantageTokenRloo(how, in, within, out, sums, found, status, stream);
          });
    });
  });
}

minform_error minform_step_rloo(const minform_call* call, minform_dtype dtype, const minform_baseline_rule* rule,
                                int64_t rows, int64_t total, const int32_t* offsets, int64_t total_steps,
                                const int32_t* step_offsets, const int32_t* step_ends, const void* step_rewards,
                                const uint8_t* mask, const minform_groups* groups, void* advantages, void* returns,
                                minform_group_stats* stats) {
  return guarded([&] {
    const BaselineRule how = baselineOf(rule);
    require(step_rewards != nullptr && advantages != nullptr, "step_rewards, advantages: expected memory, got NULL");
    const Rows tokens = rowsOf(call, offsets, rows, total);
    const Rows steps = stepsOf(call, tokens, step_offsets, total_steps, step_ends);
    const Groups within = groupsOf(call, groups, rows);
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const StepRewards<T> in{tokens, steps, static_cast<const T*>(step_rewards), step_ends, mask};
      T* out = static_cast<T*>(advantages);
      T* sums = static_cast<T*>(returns);
      return runInGroups(
          call, stats, [&](GroupStats* found) { return advantage<T>().stepRloo(how, in, within, out, sums, found); },
          [&](auto found, auto status, auto stream) {
            cuda::advantageStepRloo(how, in, within, out, sums, found, status, stream);
          });
    });
  });
}

minform_error minform_reward_to_go(const minform_call* call, minform_dtype dtype, double gamma, int64_t rows,
                                   int64_t total, const int32_t* offsets, const void* rewards, const uint8_t* mask,
                                   const void* baselines, void* advantages, void* returns) {
  return guarded([&] {
    require(gamma >= 0 && gamma <= 1, "gamma: expected a number in [0, 1]");
    require(rewards != nullptr && advantages != nullptr && returns != nullptr,
            "rewards, advantages, returns: expected memory, got NULL");
    const Rows tokens = rowsOf(call, offsets, rows, total);
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const T* from = static_cast<const T*>(rewards);
      const T* less = static_cast<const T*>(baselines);
      T* out = static_cast<T*>(advantages);
      T* sums = static_cast<T*>(returns);
      return run(
          call, [&] { return advantage<T>().rewardToGo(tokens, from, mask, gamma, less, out, sums); },
          [&](auto status, auto stream) {
            cuda::advantageRewardToGo(tokens, from, mask, gamma, less, out, sums, status, stream);
          });
    });
  });
}

minform_error minform_gae(const minform_call* call, minform_dtype dtype, double gamma, double lambda,
                          double value_lambda, int64_t rows, int64_t total, const int32_t* offsets, const void* rewards,
                          const void* values, const uint8_t* mask, const void* bootstrap, void* advantages,
                          void* returns) {
  return guarded([&] {
    require(gamma >= 0 && gamma <= 1, "gamma: expected a number in [0, 1]");
    require(lambda >= 0 && lambda <= 1 && value_lambda >= 0 && value_lambda <= 1,
            "lambda, value_lambda: expected numbers in [0, 1]");
    require(rewards != nullptr && values != nullptr && advantages != nullptr && returns != nullptr,
            "rewards, values, advantages, returns: expected memory, got NULL");
    const Rows tokens = rowsOf(call, offsets, rows, total);
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const GaeInput<T> in{tokens,
                           static_cast<const T*>(rewards),
                           static_cast<const T*>(values),
                           mask,
                           static_cast<const T*>(bootstrap),
                           gamma,
                           lambda,
                           value_lambda};
      T* out = static_cast<T*>(advantages);
      T* targets = static_cast<T*>(returns);
      return run(
          call, [&] { return advantage<T>().gae(in, out, targets); },
          [&](auto status, auto stream) { cuda::advantageGae(in, out, targets, status, stream); });
    });
  });
}

minform_error minform_optimal_baseline(const minform_call* call, minform_dtype dtype, double gamma, int64_t rows,
                                       int64_t total, const int32_t* offsets, const void* rewards,
                                       const void* log_probs, const void* sum_squared_probs, const uint8_t* mask,
                                       const minform_groups* groups, void* advantages, void* returns,
                                       minform_group_stats* stats) {
  return guarded([&] {
    require(gamma >= 0 && gamma <= 1, "gamma: expected a number in [0, 1]");
    require(rewards != nullptr && log_probs != nullptr && sum_squared_probs != nullptr && advantages != nullptr &&
                returns != nullptr,
            "rewards, log_probs, sum_squared_probs, advantages, returns: expected memory, got NULL");
    const Rows tokens = rowsOf(call, offsets, rows, total);
    const Groups within = groupsOf(call, groups, rows);
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const OptimalBaselineInput<T> in{tokens,
                                       static_cast<const T*>(rewards),
                                       static_cast<const T*>(log_probs),
                                       static_cast<const T*>(sum_squared_probs),
                                       mask,
                                       gamma};
      T* out = static_cast<T*>(advantages);
      T* sums = static_cast<T*>(returns);
      return runInGroups(
          call, stats, [&](GroupStats* found) { return advantage<T>().optimalBaseline(in, within, out, sums, found); },
          [&](auto found, auto status, auto stream) {
            cuda::advantageOptimalBaseline(in, total, within, out, sums, found, status, stream);
          });
    });
  });
}
