// Advantages against the other rows of the group on the device: those of the CPU kernels.
#include "advantage_batch.h"

using namespace minform;
using namespace minform::cuda;

namespace {

template <class T>
void outcomesAgree(OutcomeForm form, GroupStd std, bool raw, bool excluding, double scale, double shift) {
  const size_t rows = kGroups.size();
  Deviates random(4);
  std::vector<T> rewards = random.many<T>(rows, scale);
  std::vector<double> lengths;
  for (size_t row = 0; row < rows; row++) {
    rewards[row] += T(shift);
    lengths.push_back(kGroups[row] == 5 ? 0 : kLengths[row]);
  }
  if (excluding) rewards[2] = rewards[4] = T(NAN);
  rewards[7] = rewards[8];
  const OutcomeRule rule{form, std, 1e-6, 1};
  std::vector<T> expected(rows);
  GroupStats expectedStats;
  const double* lengthsOrNull = form == OutcomeForm::opo ? lengths.data() : nullptr;
  CHECK(advantage<T>().outcomes(rule, {rewards.data(), lengthsOrNull, static_cast<int64_t>(rows)},
                                {kGroups.data(), kGroupCount, raw, excluding}, expected.data(), &expectedStats) == kOk);
  const Uploaded<T> one(rewards);
  const Uploaded<double> two(lengths);
  const Uploaded<int32_t> groups(kGroups);
  const Output<T> got(rows);
  const Output<GroupStats> stats(1);
  const StatusWord status;
  advantageOutcomes<T>(rule, {one.get(), form == OutcomeForm::opo ? two.get() : nullptr, static_cast<int64_t>(rows)},
                       {groups.get(), kGroupCount, raw, excluding}, got.get(), stats.get(), status.get(), nullptr);
  CHECK(status.read() == kOk);
  CHECK(std == GroupStd::batch ? normRatio(got.download(), expected) <= kBound<T> : sameBits(got.download(), expected));
  CHECK(sameStats(stats.download()[0], expectedStats));
}

enum class Kl { none, before, after };

template <class T>
void tokenRlooAgrees(Baseline baseline, bool masked, bool stepTokens, Kl with, uint32_t sparsity, bool raw,
                     bool excluding) {
  Batch<T> batch(masked);
  std::vector<T> rewards = batch.perToken(1, sparsity);
  const std::vector<T> kl = batch.perToken(.1);
  if (excluding) {
    size_t i = static_cast<size_t>(batch.offsets[5]);
    while (!batch.mask.empty() && batch.mask[i] == 0) i++;
    rewards[i] = T(NAN);
  }
  const BaselineRule rule{baseline, baseline == Baseline::token && !masked, 3};
  const bool after = with == Kl::after;
  std::vector<T> expected(batch.total), expectedReturns(batch.total);
  GroupStats expectedStats;
  CHECK(advantage<T>().tokenRloo(
            rule,
            {batch.tokens(), rewards.data(), batch.maskOrNull(), batch.steps(),
             stepTokens ? nullptr : batch.stepEnds.data(), with == Kl::none ? nullptr : kl.data(), .3, after},
            {kGroups.data(), kGroupCount, raw, excluding}, expected.data(), expectedReturns.data(),
            &expectedStats) == kOk);
  const OnDevice<T> device(batch);
  const Uploaded<T> one(rewards), two(kl);
  const Output<T> got(batch.total), returns(batch.total);
  const Output<GroupStats> stats(1);
  const StatusWord status;
  advantageTokenRloo<T>(
      rule,
      {device.tokens(), one.get(), device.mask.get(), device.steps(), stepTokens ? nullptr : device.stepEnds.get(),
       with == Kl::none ? nullptr : two.get(), .3, after},
      {device.groups.get(), kGroupCount, raw, excluding}, got.get(), returns.get(), stats.get(), status.get(), nullptr);
  CHECK(status.read() == kOk);
  CHECK(sameBits(got.download(), expected));
  CHECK(sameBits(returns.download(), expectedReturns));
  CHECK(sameStats(stats.download()[0], expectedStats));
}

template <class T>
void stepRlooAgrees(Baseline baseline, bool masked, bool raw) {
  Batch<T> batch(masked);
  std::vector<T> rewards = batch.random.template many<T>(batch.stepEnds.size(), 1);
  const BaselineRule rule{baseline, false, 0};
  std::vector<T> expected(batch.total);
  GroupStats expectedStats;
  CHECK(advantage<T>().stepRloo(
            rule, {batch.tokens(), batch.steps(), rewards.data(), batch.stepEnds.data(), batch.maskOrNull()},
            {kGroups.data(), kGroupCount, raw, false}, expected.data(), nullptr, &expectedStats) == kOk);
  const OnDevice<T> device(batch);
  const Uploaded<T> one(rewards);
  const Output<T> got(batch.total);
  const Output<GroupStats> stats(1);
  const StatusWord status;
  advantageStepRloo<T>(rule, {device.tokens(), device.steps(), one.get(), device.stepEnds.get(), device.mask.get()},
                       {device.groups.get(), kGroupCount, raw, false}, got.get(), nullptr, stats.get(), status.get(),
                       nullptr);
  CHECK(status.read() == kOk);
  CHECK(sameBits(got.download(), expected));
  CHECK(sameStats(stats.download()[0], expectedStats));
}

// Returns beyond float64 are summed in smaller units.
void hugeReturnsAgree() {
  Batch<double> batch(false);
  std::vector<double> rewards(batch.total);
  for (size_t row = 0; row < batch.rows; row++) {
    if (kLengths[row] > 0) rewards[static_cast<size_t>(batch.offsets[row + 1]) - 1] = 1e308;
    if (kLengths[row] > 3) rewards[static_cast<size_t>(batch.offsets[row + 1]) - 2] = 5e307;
  }
  const BaselineRule rule{Baseline::returns, false, 0};
  std::vector<double> expected(batch.total);
  GroupStats stats;
  CHECK(advantage<double>().tokenRloo(
            rule, {batch.tokens(), rewards.data(), nullptr, batch.steps(), nullptr, nullptr, 0, false},
            {kGroups.data(), kGroupCount, true, false}, expected.data(), nullptr, &stats) == kOk);
  const OnDevice<double> device(batch);
  const Uploaded<double> one(rewards);
  const Output<double> got(batch.total);
  const Output<GroupStats> gotStats(1);
  const StatusWord status;
  advantageTokenRloo<double>(rule, {device.tokens(), one.get(), nullptr, device.steps(), nullptr, nullptr, 0, false},
                             {device.groups.get(), kGroupCount, true, false}, got.get(), nullptr, gotStats.get(),
                             status.get(), nullptr);
  CHECK(status.read() == kOk && sameBits(got.download(), expected));
}

template <class T>
void badValuesAreReported() {
  Batch<T> batch(false);
  const OnDevice<T> device(batch);
  std::vector<T> junk = batch.perToken(1);
  const Uploaded<T> fine(junk);
  junk[80] = T(INFINITY);
  junk[450] = T(NAN);
  const Uploaded<T> bad(junk);
  const Output<T> one(batch.total), two(batch.total);
  const Output<GroupStats> stats(1);
  const StatusWord status;
  const Groups groups{device.groups.get(), kGroupCount, false, false},
      excluding{device.groups.get(), kGroupCount, false, true};
  const auto tokenStatus = [&](const T* rewards, const T* kl, const Groups& by) {
    advantageTokenRloo<T>({Baseline::step, false, 0},
                          {device.tokens(), rewards, nullptr, device.steps(), device.stepEnds.get(), kl, 1, false}, by,
                          one.get(), two.get(), stats.get(), status.get(), nullptr);
    return status.read();
  };
  CHECK(tokenStatus(bad.get(), nullptr, groups) == 80);
  CHECK(tokenStatus(fine.get(), bad.get(), groups) == 80);
  CHECK(tokenStatus(bad.get(), nullptr, excluding) == 80);

  std::vector<T> outcomes(batch.rows, T(1)), perStep(batch.stepEnds.size(), T(1));
  outcomes[3] = T(NAN);
  perStep[30] = T(NAN);
  const Uploaded<T> three(outcomes), four(perStep);
  advantageOutcomes<T>({OutcomeForm::grpo, GroupStd::group, 0, 1}, {three.get(), nullptr, 12}, groups, one.get(),
                       stats.get(), status.get(), nullptr);
  CHECK(status.read() == 3);
  advantageStepRloo<T>({Baseline::outcome, false, 0},
                       {device.tokens(), device.steps(), four.get(), device.stepEnds.get(), nullptr}, groups, one.get(),
                       nullptr, stats.get(), status.get(), nullptr);
  CHECK(status.read() == 30);
}

template <class T>
void allOf() {
  for (const OutcomeForm form : {OutcomeForm::rloo, OutcomeForm::grpo, OutcomeForm::passK, OutcomeForm::opo}) {
    for (const GroupStd std : {GroupStd::none, GroupStd::group, GroupStd::batch}) {
      outcomesAgree<T>(form, std, false, false, 1, 0);
      outcomesAgree<T>(form, std, true, true, 1e-3, 100);
    }
  }
  outcomesAgree<T>(OutcomeForm::rloo, GroupStd::none, true, false, sizeof(T) == sizeof(float) ? 1e38 : 1e308, 0);
  for (const Baseline baseline : {Baseline::outcome, Baseline::returns, Baseline::step, Baseline::token}) {
    for (const bool masked : {false, true}) {
      tokenRlooAgrees<T>(baseline, masked, false, Kl::none, 1, false, false);
      tokenRlooAgrees<T>(baseline, masked, true, Kl::before, 20, true, false);
      tokenRlooAgrees<T>(baseline, masked, false, Kl::after, 3, false, true);
      stepRlooAgrees<T>(baseline, masked, masked);
    }
  }
  badValuesAreReported<T>();
}

}  // namespace

int main() {
  return runOnDevice([] {
    allOf<float>();
    allOf<double>();
    hugeReturnsAgree();
  });
}
