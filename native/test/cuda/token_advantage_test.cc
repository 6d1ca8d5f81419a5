// Advantages of tokens on the device against the CPU kernels: returns, GAE, the optimal baseline, streams of rewards,
// whitening.
#include "advantage_batch.h"

using namespace minform;
using namespace minform::cuda;

namespace {

template <class T>
void returnsAgree(bool masked, double gamma, bool withBaselines) {
  Batch<T> batch(masked);
  const std::vector<T> rewards = batch.perToken(1), values = batch.perToken(1),
                       perRow = batch.random.template many<T>(batch.rows, 1);
  std::vector<T> expected(batch.total), expectedReturns(batch.total);
  CHECK(advantage<T>().rewardToGo(batch.tokens(), rewards.data(), batch.maskOrNull(), gamma,
                                  withBaselines ? perRow.data() : nullptr, expected.data(),
                                  expectedReturns.data()) == kOk);
  const OnDevice<T> device(batch);
  const Uploaded<T> one(rewards), two(values), three(perRow);
  const Output<T> got(batch.total), returns(batch.total), gae(batch.total), gaeReturns(batch.total);
  const StatusWord status;
  advantageRewardToGo<T>(device.tokens(), one.get(), device.mask.get(), gamma, withBaselines ? three.get() : nullptr,
                         got.get(), returns.get(), status.get(), nullptr);
  CHECK(status.read() == kOk);
  CHECK(normRatio(got.download(), expected) <= kBound<T>);
  CHECK(normRatio(returns.download(), expectedReturns) <= kBound<T>);

  CHECK(advantage<T>().gae({batch.tokens(), rewards.data(), values.data(), batch.maskOrNull(),
                            withBaselines ? perRow.data() : nullptr, gamma, .9, 1},
                           expected.data(), expectedReturns.data()) == kOk);
  advantageGae<T>(
      {device.tokens(), one.get(), two.get(), device.mask.get(), withBaselines ? three.get() : nullptr, gamma, .9, 1},
      gae.get(), gaeReturns.get(), status.get(), nullptr);
  CHECK(status.read() == kOk);
  CHECK(normRatio(gae.download(), expected) <= kBound<T>);
  CHECK(normRatio(gaeReturns.download(), expectedReturns) <= kBound<T>);
}

template <class T>
void optimalBaselineAgrees(bool masked, bool raw, bool excluding, bool certain) {
  Batch<T> batch(masked);
  std::vector<T> rewards = batch.perToken(1, 4), logProbs = batch.perToken(1), squares = batch.perToken(.2);
  for (size_t i = 0; i < batch.total; i++) {
    logProbs[i] = certain ? T(0) : -std::fabs(logProbs[i]);
    squares[i] = certain ? T(1) : std::fabs(squares[i]);
    if (i % 50 == 0 && !certain) logProbs[i] = T(-INFINITY);
  }
  if (excluding) {
    size_t i = static_cast<size_t>(batch.offsets[3]) + 4;
    while (!batch.mask.empty() && batch.mask[i] == 0) i++;
    rewards[i] = T(NAN);
  }
  std::vector<T> expected(batch.total), expectedReturns(batch.total);
  GroupStats expectedStats;
  CHECK(advantage<T>().optimalBaseline(
            {batch.tokens(), rewards.data(), logProbs.data(), squares.data(), batch.maskOrNull(), .95},
            {kGroups.data(), kGroupCount, raw, excluding}, expected.data(), expectedReturns.data(),
            &expectedStats) == kOk);
  const OnDevice<T> device(batch);
  const Uploaded<T> one(rewards), two(logProbs), three(squares);
  const Output<T> got(batch.total), returns(batch.total);
  const Output<GroupStats> stats(1);
  const StatusWord status;
  advantageOptimalBaseline<T>({device.tokens(), one.get(), two.get(), three.get(), device.mask.get(), .95},
                              static_cast<int64_t>(batch.total), {device.groups.get(), kGroupCount, raw, excluding},
                              got.get(), returns.get(), stats.get(), status.get(), nullptr);
  CHECK(status.read() == kOk);
  CHECK(normRatio(got.download(), expected) <= kBound<T>);
  CHECK(normRatio(returns.download(), expectedReturns) <= kBound<T>);
  CHECK(sameStats(stats.download()[0], expectedStats));
}

template <class T>
void whitenAgrees(size_t count, bool masked, bool shiftMean, double scale, double shift, double epsilon) {
  Deviates random(9);
  std::vector<T> values = random.many<T>(count, scale);
  std::vector<uint8_t> mask;
  for (size_t i = 0; i < count; i++) {
    values[i] += T(shift);
    if (!masked) continue;
    mask.push_back(random.bits() % 3 != 0);
    if (mask[i] == 0) values[i] = T(NAN);
  }
  std::vector<T> expected(count);
  const WhitenRule rule{shiftMean, epsilon, 1};
  CHECK(advantage<T>().whiten(rule, static_cast<int64_t>(count), values.data(), masked ? mask.data() : nullptr,
                              expected.data()) == kOk);
  const Uploaded<T> one(values);
  const Uploaded<uint8_t> two(mask);
  const StatusWord status;
  // In place.
  advantageWhiten<T>(rule, static_cast<int64_t>(count), one.get(), two.get(), one.get(), status.get(), nullptr);
  CHECK(status.read() == kOk);
  std::vector<T> got(count);
  copyToHost(got.data(), one.get(), count * sizeof(T), nullptr);
  CHECK(count <= 4096 ? sameBits(got, expected) : normRatio(got, expected) <= kBound<T>);
}

template <class T>
void streamsAgree(bool masked, Spread spread, bool withBase) {
  Batch<T> batch(masked);
  const std::vector<T> base = batch.perToken(1), kl = batch.perToken(1),
                       perRow = batch.random.template many<T>(batch.rows, 1);
  std::vector<T> expected(batch.total), expectedKl(batch.total);
  CHECK(advantage<T>().addPerRow(batch.tokens(), withBase ? base.data() : nullptr, perRow.data(), .7, spread,
                                 batch.maskOrNull(), expected.data()) == kOk);
  CHECK(advantage<T>().klReward(batch.tokens(), base.data(), kl.data(), .1, batch.maskOrNull(), expectedKl.data()) ==
        kOk);
  const OnDevice<T> device(batch);
  const Uploaded<T> one(base), two(kl), three(perRow);
  const Output<T> got(batch.total), gotKl(batch.total);
  const StatusWord status;
  advantageAddPerRow<T>(device.tokens(), withBase ? one.get() : nullptr, three.get(), .7, spread, device.mask.get(),
                        got.get(), status.get(), nullptr);
  CHECK(status.read() == kOk && sameBits(got.download(), expected));
  advantageKlReward<T>(static_cast<int64_t>(batch.total), one.get(), two.get(), .1, device.mask.get(), gotKl.get(),
                       status.get(), nullptr);
  CHECK(status.read() == kOk && sameBits(gotKl.download(), expectedKl));
}

// Rewards of 0, 1 and NaN, onto the tokens that can be scored.
template <class T>
void verifiableAgrees(bool masked) {
  Batch<T> batch(masked);
  std::vector<T> verifiable;
  for (size_t row = 0; row < batch.rows; row++) verifiable.push_back(row % 3 == 2 ? T(NAN) : static_cast<T>(row % 3));
  const OnDevice<T> device(batch);
  const Uploaded<T> given(verifiable);
  const Output<T> got(batch.rows);
  const Output<uint8_t> gotKept(batch.total);
  const StatusWord status;
  std::vector<T> expected(batch.rows);
  for (const double shift : {0.0, -1.0}) {
    CHECK(advantage<T>().codeVerifiable(static_cast<int64_t>(batch.rows), verifiable.data(), shift, expected.data()) ==
          kOk);
    CHECK(expected[0] == T(shift) && expected[1] == T(1 + shift) && expected[2] == T(0));
    advantageCodeVerifiable<T>(device.rows, given.get(), shift, got.get(), status.get(), nullptr);
    CHECK(status.read() == kOk && sameBits(got.download(), expected));
  }
  std::vector<uint8_t> kept(batch.total);
  CHECK(advantage<T>().scorableTokens(batch.tokens(), verifiable.data(), batch.maskOrNull(), kept.data()) == kOk);
  for (size_t row = 0; row < batch.rows; row++) {
    for (int32_t i = batch.offsets[row]; i < batch.offsets[row + 1]; i++) {
      CHECK(kept[static_cast<size_t>(i)] == (row % 3 != 2 && (!masked || batch.mask[static_cast<size_t>(i)] != 0)));
    }
  }
  advantageScorableTokens<T>(device.tokens(), given.get(), device.mask.get(), gotKept.get(), nullptr);
  CHECK(gotKept.download() == kept);

  verifiable[7] = T(.5);
  verifiable[5] = T(INFINITY);
  const Uploaded<T> bad(verifiable);
  CHECK(advantage<T>().codeVerifiable(static_cast<int64_t>(batch.rows), verifiable.data(), 0, expected.data()) == 5);
  advantageCodeVerifiable<T>(device.rows, bad.get(), 0, got.get(), status.get(), nullptr);
  CHECK(status.read() == 5);
}

// Finite inputs give finite results, however large.
void overflowSaturates() {
  const std::vector<double> huge(70, 1.7e308), low(70, -1.7e308);
  const Uploaded<int32_t> offsets(std::vector<int32_t>{0, 70});
  const Uploaded<double> one(huge), two(low);
  const Output<double> advantages(70), returns(70);
  const StatusWord status;
  const auto allFinite = [&] {
    CHECK(status.read() == kOk);
    for (const double value : advantages.download()) CHECK(std::isfinite(value));
    for (const double value : returns.download()) CHECK(std::isfinite(value));
  };
  for (const double gamma : {0.0, 1.0}) {
    advantageRewardToGo<double>({offsets.get(), 1}, one.get(), nullptr, gamma, two.get(), advantages.get(),
                                returns.get(), status.get(), nullptr);
    allFinite();
    advantageGae<double>({{offsets.get(), 1}, one.get(), two.get(), nullptr, one.get(), gamma, .5, 0}, advantages.get(),
                         returns.get(), status.get(), nullptr);
    allFinite();
  }
}

template <class T>
void badValuesAreReported() {
  Batch<T> batch(false);
  const OnDevice<T> device(batch);
  std::vector<T> junk = batch.perToken(1);
  const Uploaded<T> fine(junk);
  junk[80] = T(INFINITY);
  junk[450] = T(NAN);
  const Uploaded<T> bad(junk), certain(std::vector<T>(batch.total, T(0)));
  const int64_t total = static_cast<int64_t>(batch.total);
  const Output<T> one(batch.total), two(batch.total);
  const Output<GroupStats> stats(1);
  const StatusWord status;
  const Groups groups{device.groups.get(), kGroupCount, false, false};
  advantageRewardToGo<T>(device.tokens(), bad.get(), nullptr, 1, nullptr, one.get(), two.get(), status.get(), nullptr);
  CHECK(status.read() == 80);
  advantageGae<T>({device.tokens(), fine.get(), bad.get(), nullptr, nullptr, 1, 1, 1}, one.get(), two.get(),
                  status.get(), nullptr);
  CHECK(status.read() == 80);
  advantageOptimalBaseline<T>({device.tokens(), bad.get(), certain.get(), certain.get(), nullptr, 1}, total, groups,
                              one.get(), two.get(), stats.get(), status.get(), nullptr);
  CHECK(status.read() == 80);
  advantageWhiten<T>({true, 1e-8, 1}, total, bad.get(), nullptr, one.get(), status.get(), nullptr);
  CHECK(status.read() == 80);
  advantageAddPerRow<T>(device.tokens(), bad.get(), fine.get(), 1, Spread::every, nullptr, one.get(), status.get(),
                        nullptr);
  CHECK(status.read() == 80);
  advantageKlReward<T>(total, fine.get(), bad.get(), 1, nullptr, one.get(), status.get(), nullptr);
  CHECK(status.read() == 80);
}

template <class T>
void allOf() {
  for (const bool masked : {false, true}) {
    for (const double gamma : {0.0, .9, 1.0}) returnsAgree<T>(masked, gamma, masked);
    optimalBaselineAgrees<T>(masked, false, false, false);
    optimalBaselineAgrees<T>(masked, true, true, false);
    optimalBaselineAgrees<T>(masked, false, false, true);
    for (const Spread spread : {Spread::last, Spread::every}) streamsAgree<T>(masked, spread, masked);
    verifiableAgrees<T>(masked);
  }
  for (const size_t count : {1, 17, 4096, 20001}) {
    whitenAgrees<T>(count, false, true, 1, 3, 1e-8);
    whitenAgrees<T>(count, true, false, 1, 0, 0);
  }
  badValuesAreReported<T>();
}

}  // namespace

int main() {
  return runOnDevice([] {
    allOf<float>();
    allOf<double>();
    overflowSaturates();
    whitenAgrees<float>(300 * 4096 + 7, false, true, 1, 1, 1e-8);  // several blocks for each thread that merges
    whitenAgrees<double>(5000, false, true, 1e300, 0, 0);
    whitenAgrees<double>(5000, true, true, 1e-250, 0, 0);
  });
}
