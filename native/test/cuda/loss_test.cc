// Losses on the device against the CPU kernels: empty, short and odd rows, rows of several blocks, junk where the mask
// hides it.
#include "minform/cuda/loss.h"

#include "device_test.h"

using namespace minform;
using namespace minform::cuda;

namespace {

// Rows of one block, exactly one, more than one, and none.
const std::vector<int32_t> kLengths{0, 1, 15, 16, 17, 512, 0, 513, 1300, 2, 31};
const std::vector<int32_t> kGroups{0, 0, 1, 1, 1, 2, 2, 0, 2, 3, 3};
constexpr int64_t kGroupCount = 5;

template <class T>
constexpr double kBound = sizeof(T) == sizeof(double) ? 1e-13 : 1e-7;
constexpr double kRawBound = 1e-12;

enum class Masking { none, some, most };

template <class T>
struct Batch {
  Deviates random{3};
  std::vector<int32_t> offsets;
  size_t rows, total;
  std::vector<uint8_t> mask;
  std::vector<double> promptTokens;
  Uploaded<int32_t> deviceOffsets{offsets}, deviceGroups{kGroups};
  Uploaded<uint8_t> deviceMask;
  Uploaded<double> devicePromptTokens;

  explicit Batch(Masking masking, const std::vector<int32_t>& lengths = kLengths)
      : offsets(offsetsOf(lengths)),
        rows(lengths.size()),
        total(static_cast<size_t>(offsets.back())),
        mask(makeMask(masking)),
        promptTokens(countPrompts()),
        deviceMask(mask),
        devicePromptTokens(promptTokens) {}

  const uint8_t* maskOrNull() const { return mask.empty() ? nullptr : mask.data(); }
  Rows hostRows() const { return {offsets.data(), static_cast<int64_t>(rows)}; }
  Rows deviceRows() const { return {deviceOffsets.get(), static_cast<int64_t>(rows)}; }
  int64_t tokens() const { return static_cast<int64_t>(total); }

  // Values per token, NaN where the mask hides them.
  std::vector<T> perToken(double scale, double shift = 0) {
    std::vector<T> values = random.many<T>(total, scale);
    for (size_t i = 0; i < total; i++) values[i] = mask.empty() || mask[i] != 0 ? values[i] + T(shift) : T(NAN);
    return values;
  }

 private:
  std::vector<uint8_t> makeMask(Masking masking) {
    std::vector<uint8_t> made;
    for (size_t i = 0; i < total && masking != Masking::none; i++) {
      made.push_back(masking == Masking::some ? random.bits() % 3 != 0 : random.bits() % 40 == 0);
    }
    return made;
  }
  std::vector<double> countPrompts() const {
    std::vector<double> perGroup(kGroupCount), perRow;
    for (size_t row = 0; row < rows; row++) {
      for (int32_t i = offsets[row]; i < offsets[row + 1]; i++) {
        perGroup[static_cast<size_t>(kGroups[row])] += mask.empty() || mask[static_cast<size_t>(i)] != 0;
      }
    }
    for (const int32_t group : kGroups) perRow.push_back(perGroup[static_cast<size_t>(group)] + 3);
    return perRow;
  }
};

struct Setting {
  AggregationMode mode;
  bool knownPrompts;
  double denominator;
};
const std::vector<Setting> kSettings{
    {AggregationMode::tokenMean, false, NAN},
    {AggregationMode::tokenMean, false, 77},
    {AggregationMode::seqMeanTokenSum, false, NAN},
    {AggregationMode::seqMeanTokenMean, false, NAN},
    {AggregationMode::promptMean, false, NAN},
    {AggregationMode::promptMean, true, NAN},
    {AggregationMode::sum, false, NAN},
};

template <class T>
Aggregation hostAggregation(const Batch<T>& batch, const Setting& setting) {
  return {setting.mode, kGroups.data(), kGroupCount, setting.knownPrompts ? batch.promptTokens.data() : nullptr,
          setting.denominator};
}
template <class T>
Aggregation deviceAggregation(const Batch<T>& batch, const Setting& setting) {
  return {setting.mode, batch.deviceGroups.get(), kGroupCount,
          setting.knownPrompts ? batch.devicePromptTokens.get() : nullptr, setting.denominator};
}

// Slots one by one: each is a statistic of its own. `raw` says which tallies are of clamped tokens.
void slotsAgree(const std::vector<double>& actual, const std::vector<double>& expected, double bound,
                const std::vector<int>& raw = {}) {
  for (int slot = 0; slot < kLossSlots; slot++) {
    const double a = actual[static_cast<size_t>(slot)], e = expected[static_cast<size_t>(slot)];
    double allowed = bound;
    for (const int tally : raw) allowed = slot == kTallies + tally ? std::fmax(kRawBound, bound) : allowed;
    const bool same = a == e || std::fabs(a - e) <= allowed * std::fabs(e);
    if (!same) std::fprintf(stderr, "slot %d: %.17g, expected %.17g\n", slot, a, e);
    CHECK(same);
  }
}

// Masked-out tokens get +0, bit for bit.
template <class T>
void hiddenAreZero(const Batch<T>& batch, const std::vector<T>& values) {
  const T zero = 0;
  for (size_t i = 0; i < batch.mask.size(); i++) {
    if (batch.mask[i] == 0 && std::memcmp(&values[i], &zero, sizeof zero) != 0) {
      CHECK(!"a masked-out token has a value");
      return;
    }
  }
}

template <class T>
void policyAgrees(PolicyLoss loss, Masking masking, const Setting& setting, bool perRow, bool weighted, double spread) {
  Batch<T> batch(masking);
  const PolicyParameters parameters{
      loss, loss == PolicyLoss::gmpo ? -.1 : .8, loss == PolicyLoss::gmpo ? .1 : 1.2, 3, 6, 1.05, 1.4, 4};
  const bool withOld = loss != PolicyLoss::reinforce;
  const std::vector<T> logProbs = batch.perToken(spread, -1), oldLogProbs = batch.perToken(spread, -1),
                       advantages = perRow ? batch.random.template many<T>(batch.rows, 1) : batch.perToken(1),
                       weights = batch.perToken(.2, 1);
  std::vector<T> expected(batch.total);
  std::vector<double> expectedSlots(kLossSlots);
  CHECK(minform::loss<T>().policy(parameters,
                                  {batch.hostRows(), logProbs.data(), withOld ? oldLogProbs.data() : nullptr,
                                   advantages.data(), perRow, weighted ? weights.data() : nullptr, batch.maskOrNull()},
                                  hostAggregation(batch, setting), expected.data(), expectedSlots.data()) == kOk);

  const Uploaded<T> one(logProbs), two(oldLogProbs), three(advantages), four(weights);
  const Output<T> got(batch.total);
  const Output<double> slots(kLossSlots);
  const StatusWord status;
  lossPolicy<T>(parameters,
                {batch.deviceRows(), one.get(), withOld ? two.get() : nullptr, three.get(), perRow,
                 weighted ? four.get() : nullptr, batch.deviceMask.get()},
                batch.tokens(), deviceAggregation(batch, setting), got.get(), slots.get(), status.get(), nullptr);
  CHECK(status.read() == kOk);
  // What is not transcendental, or is so in float32, has the CPU's bits.
  const bool exact = sizeof(T) == sizeof(float) && loss != PolicyLoss::gspo && loss != PolicyLoss::gmpo;
  CHECK(exact ? sameBits(got.download(), expected) : normRatio(got.download(), expected) <= kBound<T>);
  slotsAgree(slots.download(), expectedSlots, exact ? 0 : kBound<T>,
             {kPolicyRawLogRatio, kPolicyRawRatio, kPolicyRawK3});
  hiddenAreZero(batch, got.download());
}

template <class T>
void klAgrees(KlEstimator estimator, KlGradient gradient, Masking masking, bool offPolicy, double spread) {
  Batch<T> batch(masking);
  const Setting setting{AggregationMode::seqMeanTokenMean, false, NAN};
  const std::vector<T> logProbs = batch.perToken(spread), ref = batch.perToken(spread), old = batch.perToken(spread);
  std::vector<T> expectedValues(batch.total), expected(batch.total);
  std::vector<double> expectedSlots(kLossSlots);
  CHECK(minform::loss<T>().kl({batch.hostRows(), logProbs.data(), ref.data(), offPolicy ? old.data() : nullptr,
                               batch.maskOrNull(), estimator, gradient, 3},
                              hostAggregation(batch, setting), expectedValues.data(), expected.data(),
                              expectedSlots.data()) == kOk);
  const Uploaded<T> one(logProbs), two(ref), three(old);
  const Output<T> values(batch.total), got(batch.total);
  const Output<double> slots(kLossSlots);
  const StatusWord status;
  lossKl<T>({batch.deviceRows(), one.get(), two.get(), offPolicy ? three.get() : nullptr, batch.deviceMask.get(),
             estimator, gradient, 3},
            batch.tokens(), deviceAggregation(batch, setting), values.get(), got.get(), slots.get(), status.get(),
            nullptr);
  CHECK(status.read() == kOk);
  const double bound = sizeof(T) == sizeof(float) ? 0 : kBound<T>;
  CHECK(normRatio(values.download(), expectedValues) <= bound);
  CHECK(normRatio(got.download(), expected) <= bound);
  slotsAgree(slots.download(), expectedSlots, bound, {kKlRawK1, kKlRawK3});
  hiddenAreZero(batch, got.download());
  hiddenAreZero(batch, values.download());
}

template <class T>
void valueAgrees(Masking masking, const Setting& setting, bool clips, const std::vector<int32_t>& lengths = kLengths) {
  Batch<T> batch(masking, lengths);
  const std::vector<T> values = batch.perToken(1), old = batch.perToken(1), returns = batch.perToken(1);
  std::vector<T> expected(batch.total);
  std::vector<double> expectedSlots(kLossSlots);
  CHECK(minform::loss<T>().value(
            {batch.hostRows(), values.data(), clips ? old.data() : nullptr, returns.data(), batch.maskOrNull(), .2},
            hostAggregation(batch, setting), expected.data(), expectedSlots.data()) == kOk);
  const Uploaded<T> one(values), two(old), three(returns);
  const Output<T> got(batch.total);
  const Output<double> slots(kLossSlots);
  const StatusWord status;
  lossValue<T>({batch.deviceRows(), one.get(), clips ? two.get() : nullptr, three.get(), batch.deviceMask.get(), .2},
               batch.tokens(), deviceAggregation(batch, setting), got.get(), slots.get(), status.get(), nullptr);
  CHECK(status.read() == kOk);
  CHECK(sameBits(got.download(), expected));
  slotsAgree(slots.download(), expectedSlots, 0);
}

template <class T>
void entropyAgrees(Masking masking, const Setting& setting) {
  Batch<T> batch(masking);
  const std::vector<T> values = batch.perToken(1, 2);
  std::vector<T> expected(batch.total);
  std::vector<double> expectedSlots(kLossSlots);
  CHECK(minform::loss<T>().entropy(batch.hostRows(), values.data(), batch.maskOrNull(), hostAggregation(batch, setting),
                                   expected.data(), expectedSlots.data()) == kOk);
  const Uploaded<T> one(values);
  const Output<T> got(batch.total);
  const Output<double> slots(kLossSlots);
  const StatusWord status;
  lossEntropy<T>(batch.deviceRows(), batch.tokens(), one.get(), batch.deviceMask.get(),
                 deviceAggregation(batch, setting), got.get(), slots.get(), status.get(), nullptr);
  CHECK(status.read() == kOk);
  CHECK(sameBits(got.download(), expected));
  slotsAgree(slots.download(), expectedSlots, 0);
}

template <class T>
void weightsAgree(Correction correction, WeightLevel level, Masking masking, double normalizer) {
  Batch<T> batch(masking);
  std::vector<T> old = batch.perToken(1), rollout = batch.perToken(1);
  for (size_t i = 0; i < batch.total; i += 97) rollout[i] = T(-INFINITY);
  std::vector<T> expected(batch.total);
  std::vector<uint8_t> expectedKept(batch.total);
  std::vector<double> expectedSlots(kLossSlots);
  CHECK(minform::loss<T>().importanceWeights({batch.hostRows(), old.data(), rollout.data(), batch.maskOrNull(),
                                              correction, level, .5, 2, 20, normalizer},
                                             expected.data(), expectedKept.data(), expectedSlots.data()) == kOk);
  const Uploaded<T> one(old), two(rollout);
  const Output<T> got(batch.total);
  const Output<uint8_t> kept(batch.total);
  const Output<double> slots(kLossSlots);
  const StatusWord status;
  lossImportanceWeights<T>(
      {batch.deviceRows(), one.get(), two.get(), batch.deviceMask.get(), correction, level, .5, 2, 20, normalizer},
      batch.tokens(), got.get(), kept.get(), slots.get(), status.get(), nullptr);
  CHECK(status.read() == kOk);
  const double bound = sizeof(T) == sizeof(float) && level == WeightLevel::token ? 0 : kBound<T>;
  CHECK(normRatio(got.download(), expected) <= bound);
  CHECK(sameBits(kept.download(), expectedKept));
  slotsAgree(slots.download(), expectedSlots, bound);
  hiddenAreZero(batch, got.download());
}

// The lowest bad token; a row with more tokens than its prompt comes before it.
template <class T>
void badValuesAreReported() {
  Batch<T> batch(Masking::none);
  const PolicyParameters ppo{PolicyLoss::ppo, .8, 1.2, INFINITY, INFINITY, 1, 1, 20};
  const std::vector<T> good = batch.perToken(1);
  std::vector<T> bad = good;
  bad[700] = T(NAN);
  bad[1400] = T(NAN);
  const Uploaded<T> fine(good), junk(bad);
  const Output<T> one(batch.total), two(batch.total);
  const Output<uint8_t> kept(batch.total);
  const Output<double> slots(kLossSlots);
  const StatusWord status;
  const auto policyStatus = [&](const T* logProbs, const T* advantages, const T* weights, const Aggregation& by) {
    lossPolicy<T>(ppo, {batch.deviceRows(), logProbs, fine.get(), advantages, false, weights, nullptr}, batch.tokens(),
                  by, one.get(), slots.get(), status.get(), nullptr);
    return status.read();
  };
  const Aggregation mean{AggregationMode::tokenMean, nullptr, 0, nullptr, NAN};
  CHECK(policyStatus(fine.get(), fine.get(), nullptr, mean) == kOk);
  CHECK(policyStatus(junk.get(), fine.get(), nullptr, mean) == 700);
  CHECK(policyStatus(fine.get(), junk.get(), nullptr, mean) == 700);
  CHECK(policyStatus(fine.get(), fine.get(), junk.get(), mean) == 700);
  std::vector<double> few = batch.promptTokens;
  few[4] = 16;
  few[8] = 1;
  const Uploaded<double> tooFew(few);
  const Aggregation prompts{AggregationMode::promptMean, batch.deviceGroups.get(), kGroupCount, tooFew.get(), NAN};
  CHECK(policyStatus(junk.get(), fine.get(), nullptr, prompts) == kBadPromptTokens - 4);

  lossKl<T>({batch.deviceRows(), fine.get(), junk.get(), nullptr, nullptr, KlEstimator::k1, KlGradient::same, 20},
            batch.tokens(), mean, two.get(), one.get(), slots.get(), status.get(), nullptr);
  CHECK(status.read() == 700);
  lossKl<T>(
      {batch.deviceRows(), fine.get(), fine.get(), junk.get(), nullptr, KlEstimator::k1, KlGradient::importance, 20},
      batch.tokens(), mean, two.get(), one.get(), slots.get(), status.get(), nullptr);
  CHECK(status.read() == 700);
  lossValue<T>({batch.deviceRows(), fine.get(), junk.get(), fine.get(), nullptr, .2}, batch.tokens(), mean, one.get(),
               slots.get(), status.get(), nullptr);
  CHECK(status.read() == 700);
  lossEntropy<T>(batch.deviceRows(), batch.tokens(), junk.get(), nullptr, mean, one.get(), slots.get(), status.get(),
                 nullptr);
  CHECK(status.read() == 700);
  lossImportanceWeights<T>(
      {batch.deviceRows(), fine.get(), junk.get(), nullptr, Correction::mask, WeightLevel::sequenceSum, .5, 2, 20, 1},
      batch.tokens(), one.get(), kept.get(), slots.get(), status.get(), nullptr);
  CHECK(status.read() == 700);
}

// No rows, and rows without a counted token.
void emptyBatches() {
  const Uploaded<int32_t> none(std::vector<int32_t>{0}), one(std::vector<int32_t>{0, 3});
  const Uploaded<uint8_t> hidden(std::vector<uint8_t>{0, 0, 0});
  const Uploaded<float> junk(std::vector<float>(3, NAN));
  const Aggregation mean{AggregationMode::seqMeanTokenMean, nullptr, 0, nullptr, NAN};
  const StatusWord status;
  const Output<double> slots(kLossSlots), others(kLossSlots);
  const Output<float> gradient(3);
  lossEntropy<float>({none.get(), 0}, 0, nullptr, nullptr, mean, nullptr, slots.get(), status.get(), nullptr);
  CHECK(status.read() == kOk && slots.download()[kLossValue] == 0 && slots.download()[kCount] == 0);
  lossEntropy<float>({one.get(), 1}, 3, junk.get(), hidden.get(), mean, gradient.get(), others.get(), status.get(),
                     nullptr);
  CHECK(status.read() == kOk && others.download()[kLossValue] == 0 && others.download()[kTokens] == 0);
  CHECK(sameBits(gradient.download(), {0, 0, 0}));
}

template <class T>
void allOf() {
  const Setting mean = kSettings[0];
  const std::vector<PolicyLoss> losses{PolicyLoss::ppo,   PolicyLoss::gspo, PolicyLoss::gmpo,
                                       PolicyLoss::cispo, PolicyLoss::sapo, PolicyLoss::reinforce};
  for (const PolicyLoss loss : losses) {
    policyAgrees<T>(loss, Masking::none, mean, false, true, .1);
    policyAgrees<T>(loss, Masking::some, kSettings[3], true, false, .6);
    policyAgrees<T>(loss, Masking::most, mean, false, true, 4);
  }
  for (const Setting& setting : kSettings) {
    policyAgrees<T>(PolicyLoss::ppo, Masking::some, setting, false, false, .2);
    valueAgrees<T>(Masking::some, setting, true);
    entropyAgrees<T>(Masking::most, setting);
  }
  valueAgrees<T>(Masking::none, mean, false);
  for (const Masking masking : {Masking::none, Masking::some, Masking::most}) {
    valueAgrees<T>(masking, mean, true, {3, 34000, 600});  // more blocks than a warp has lanes
  }
  entropyAgrees<T>(Masking::none, mean);
  for (const KlEstimator estimator : {KlEstimator::k1, KlEstimator::k2, KlEstimator::k3, KlEstimator::abs}) {
    for (const KlGradient gradient : {KlGradient::same, KlGradient::k2, KlGradient::importance}) {
      klAgrees<T>(estimator, gradient, Masking::some, true, .5);
    }
    klAgrees<T>(estimator, KlGradient::importance, Masking::none, false, 4);
  }
  for (const WeightLevel level : {WeightLevel::token, WeightLevel::sequenceSum, WeightLevel::sequenceMean}) {
    weightsAgree<T>(Correction::truncate, level, Masking::some, 0);
    weightsAgree<T>(Correction::mask, level, Masking::none, 1);
  }
  badValuesAreReported<T>();
}

}  // namespace

int main() {
  return runOnDevice([] {
    allOf<float>();
    allOf<double>();
    emptyBatches();
  });
}
