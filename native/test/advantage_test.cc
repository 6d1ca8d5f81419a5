// Golden values of the advantage estimators, through the kernel table of the ISA level in use.
#include "minform/advantage.h"

#include <cmath>
#include <limits>
#include <vector>

#include "check.h"
#include "minform/pool.h"

using namespace minform;

static const double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class T>
static void onOutcomes(double bound) {
  const T rewards[] = {1, 0, 0, 1, T(.5), T(kNaN)};
  const int32_t index[] = {0, 0, 0, 0, 1, 1};
  T out[6];
  GroupStats stats;
  const auto& kernels = advantage<T>();
  CHECK(kernels.outcomes({OutcomeForm::rloo, GroupStd::none, 0, 1}, {rewards, nullptr, 6}, {index, 2, false, true}, out,
                         &stats) == kOk);
  CHECK_NEAR(out[0], 2.0 / 3, bound);
  CHECK_NEAR(out[1], -2.0 / 3, bound);
  CHECK(out[4] == 0 && out[5] == 0 && !std::signbit(out[5]));
  CHECK(stats.groups == 2 && stats.singletons == 1 && stats.firstSingleton == 4 && stats.excluded == 1);
  GroupStats more;
  CHECK(kernels.outcomes({OutcomeForm::grpo, GroupStd::group, 1e-6, 1}, {rewards, nullptr, 5}, {index, 2, true, false},
                         out, &more) == kOk);
  CHECK_NEAR(out[3], .866024, 1e-6);
  CHECK_NEAR(out[4], .5 / (1 + 1e-6), bound);
  CHECK(kernels.outcomes({OutcomeForm::grpo, GroupStd::group, 1e-6, 1}, {rewards, nullptr, 6}, {index, 2, true, false},
                         out, &more) == 5);
}

// Steps of 3 tokens: .4@2, .2@5 against -.3@3; PURE's token baseline without separators.
template <class T>
static void onTokens(double bound) {
  const int32_t tokenOffsets[] = {0, 6, 10}, stepOffsets[] = {0, 2, 3}, stepEnds[] = {2, 5, 3}, index[] = {0, 0};
  const T steps[] = {T(.4), T(.2), T(-.3)};
  const T tokens[] = {0, 0, T(.4), 0, 0, T(.2), 0, 0, 0, T(-.3)};
  const Rows rows{tokenOffsets, 2}, stepRows{stepOffsets, 2};
  const Groups groups{index, 1, false, false};
  const BaselineRule rule{Baseline::token, false, 1};
  T fast[10], slow[10], returns[10];
  GroupStats stats;
  CHECK(advantage<T>().stepRloo(rule, {rows, stepRows, steps, stepEnds, nullptr}, groups, fast, nullptr, &stats) ==
        kOk);
  CHECK(advantage<T>().tokenRloo(rule, {rows, tokens, nullptr, stepRows, stepEnds, nullptr, 0, false}, groups, slow,
                                 returns, &stats) == kOk);
  const double expected[] = {.9, .9, .9, .35, .35, .35, -.6, -.6, -.6, -.6};
  for (int i = 0; i < 10; i++) {
    CHECK_NEAR(fast[i], expected[i], bound);
    CHECK_NEAR(slow[i], expected[i], bound);
  }
  CHECK_NEAR(returns[0], .6, bound);
}

static void others() {
  const int32_t offsets[] = {0, 4};
  const double rewards[] = {0, kNaN, 0, 1}, values[] = {.5, kNaN, .25, .1};
  const uint8_t mask[] = {1, 0, 1, 1};
  double advantages[4], returns[4];
  CHECK(advantage<double>().gae({{offsets, 1}, rewards, values, mask, nullptr, .9, .8, .8}, advantages, returns) ==
        kOk);
  CHECK_NEAR(advantages[0], .07636, 1e-12);
  CHECK_NEAR(returns[2], .738, 1e-12);
  CHECK(advantages[1] == 0);
  CHECK(advantage<double>().gae({{offsets, 1}, rewards, values, nullptr, nullptr, .9, .8, .8}, advantages, returns) ==
        1);
  const double numbers[] = {1, 2, kNaN};
  const uint8_t kept[] = {1, 1, 0};
  CHECK(advantage<double>().whiten({true, 1e-8, 1}, 3, numbers, kept, advantages) == kOk);
  CHECK_NEAR(advantages[1], .707107, 1e-6);
  CHECK(advantages[2] == 0);
}

// The same bits for every thread count, on a batch that is cut in pieces.
static void threads() {
  const int64_t rows = 12, length = 20000, total = rows * length;
  std::vector<int32_t> offsets(rows + 1), index(rows);
  std::vector<float> rewards(total), one(total), three(total), returns(total);
  for (int64_t i = 0; i <= rows; i++) offsets[static_cast<size_t>(i)] = static_cast<int32_t>(i * length);
  for (int64_t i = 0; i < rows; i++) index[static_cast<size_t>(i)] = static_cast<int32_t>(i % 3);
  for (int64_t i = 0; i < total; i++)
    rewards[static_cast<size_t>(i)] = i % 50 == 0 ? std::sin(static_cast<float>(i)) : 0.f;
  const Rows batch{offsets.data(), rows};
  const Groups groups{index.data(), 3, false, false};
  for (const Baseline baseline : {Baseline::outcome, Baseline::returns, Baseline::step, Baseline::token}) {
    GroupStats stats;
    const TokenRewards<float> in{batch, rewards.data(), nullptr, {}, nullptr, nullptr, 0, false};
    setNumThreads(1);
    CHECK(advantage<float>().tokenRloo({baseline, true, 1}, in, groups, one.data(), returns.data(), &stats) == kOk);
    setNumThreads(3);
    CHECK(advantage<float>().tokenRloo({baseline, true, 1}, in, groups, three.data(), returns.data(), &stats) == kOk);
    CHECK(one == three);
  }
  setNumThreads(1);
  CHECK(advantage<float>().whiten({true, 1e-8, 1}, total, rewards.data(), nullptr, one.data()) == kOk);
  setNumThreads(3);
  CHECK(advantage<float>().whiten({true, 1e-8, 1}, total, rewards.data(), nullptr, three.data()) == kOk);
  CHECK(one == three);
}

int main() {
  onOutcomes<double>(1e-12);
  onOutcomes<float>(1e-7);
  onTokens<double>(1e-12);
  onTokens<float>(1e-6);
  others();
  threads();
  return checkResult();
}
