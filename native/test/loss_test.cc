// Golden values of the losses through the kernel table of the ISA level in use, and that levels and threads agree.
#include "minform/loss.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "check.h"
#include "minform/pool.h"

using namespace minform;

static const double kNaN = std::numeric_limits<double>::quiet_NaN();
static const double kInfinity = std::numeric_limits<double>::infinity();
static const Aggregation kTokenMean{AggregationMode::tokenMean, nullptr, 0, nullptr, kNaN};

static PolicyParameters ppo(double dualClip, double maxRatio) {
  return {PolicyLoss::ppo, .8, 1.28, dualClip, maxRatio, 1, 1, 20};
}

template <class T>
static void onePpo(double ratio, double advantage, double loss, double gradient, double bound) {
  const int32_t offsets[] = {0, 1};
  const T logProb = T(std::log(ratio)), old = 0, a = T(advantage);
  T grad = 7;
  double slots[kLossSlots];
  const PolicyInput<T> in{{offsets, 1}, &logProb, &old, &a, false, nullptr, nullptr};
  CHECK(minform::loss<T>().policy(ppo(3, kInfinity), in, kTokenMean, &grad, slots) == kOk);
  CHECK_NEAR(slots[kLossValue], loss, bound);
  CHECK_NEAR(grad, gradient, bound);
}

template <class T>
static void goldenPpo(double bound) {
  onePpo<T>(.5, 1, -.5, -.5, bound);
  onePpo<T>(.5, -1, .8, 0, bound);
  onePpo<T>(1, 1, -1, -1, bound);
  onePpo<T>(1.3, 1, -1.28, 0, bound);
  onePpo<T>(1.3, -1, 1.3, 1.3, bound);
  onePpo<T>(10, -1, 3, 0, bound);
  onePpo<T>(std::exp(1000.), 1, -1.28, 0, bound);
}

// Masked-out tokens hold junk; they get +0 and change nothing.
template <class T>
static void masked() {
  const int32_t offsets[] = {0, 3, 3, 5};
  const T logProbs[] = {0, T(kNaN), 0, T(kInfinity), 0}, old[] = {0, 0, T(kNaN), 0, 0};
  const T advantages[] = {-1, T(kNaN), 1, T(kInfinity), -3};
  const uint8_t mask[] = {1, 0, 0, 0, 1};
  T grad[5];
  double slots[kLossSlots];
  const PolicyInput<T> in{{offsets, 3}, logProbs, old, advantages, false, nullptr, mask};
  CHECK(minform::loss<T>().policy(ppo(kInfinity, kInfinity), in, kTokenMean, grad, slots) == kOk);
  CHECK(slots[kLossValue] == 2 && slots[kCount] == 2);
  CHECK(grad[0] == T(.5) && grad[4] == T(1.5));
  for (int i = 1; i < 4; i++) CHECK(grad[i] == 0 && !std::signbit(grad[i]));
  const PolicyInput<T> open{{offsets, 3}, logProbs, old, advantages, false, nullptr, nullptr};
  CHECK(minform::loss<T>().policy(ppo(kInfinity, kInfinity), open, kTokenMean, grad, slots) == 1);
}

static void promptTokens() {
  const int32_t offsets[] = {0, 2, 3};
  const double zeros[] = {0, 0, 0}, advantages[] = {-1, -1, -4}, tokens[] = {2, 0};
  double grad[3], slots[kLossSlots];
  const PolicyInput<double> in{{offsets, 2}, zeros, zeros, advantages, false, nullptr, nullptr};
  const Aggregation bad{AggregationMode::promptMean, nullptr, 0, tokens, kNaN};
  CHECK(minform::loss<double>().policy(ppo(3, kInfinity), in, bad, grad, slots) == kBadPromptTokens - 1);
  const int32_t groups[] = {0, 1};
  const Aggregation own{AggregationMode::promptMean, groups, 2, nullptr, kNaN};
  CHECK(minform::loss<double>().policy(ppo(3, kInfinity), in, own, grad, slots) == kOk);
  CHECK_NEAR(slots[kLossValue], 2.5, 1e-15);
}

static void kl() {
  const int32_t offsets[] = {0, 3};
  const double logProbs[] = {-3, -kInfinity, 1e-4}, ref[] = {0, 0, 0};
  double values[3], grad[3], slots[kLossSlots];
  const KlInput<double> in{{offsets, 1}, logProbs, ref, nullptr, nullptr, KlEstimator::k3, KlGradient::same, 20};
  const Aggregation sum{AggregationMode::sum, nullptr, 0, nullptr, kNaN};
  CHECK(minform::loss<double>().kl(in, sum, values, grad, slots) == kOk);
  CHECK_NEAR(values[0], 16.085537, 1e-6);
  CHECK_NEAR(grad[0], -19.085537, 1e-6);
  CHECK_NEAR(grad[1] / (1 - std::exp(20.)), 1, 1e-15);
  CHECK_NEAR(values[2] * 1e9, 4.9998333375, 1e-9);
  CHECK(slots[kTallies + kKlClamped] == 1);
}

static void value() {
  const int32_t offsets[] = {0, 1};
  const double v = 1, old = 0, target = .75;
  double grad, slots[kLossSlots];
  const ValueInput<double> in{{offsets, 1}, &v, &old, &target, nullptr, .5};
  CHECK(minform::loss<double>().value(in, kTokenMean, &grad, slots) == kOk);
  CHECK(slots[kLossValue] == .03125 && grad == .25);
}

static void weights() {
  const int32_t offsets[] = {0, 2, 4};
  const double old[] = {std::log(10.), std::log(.1), std::log(3.), std::log(3.)}, rollout[] = {0, 0, 0, 0};
  double out[4], slots[kLossSlots];
  uint8_t kept[4];
  const WeightInput<double> in{{offsets, 2},       old, rollout, nullptr, Correction::truncate,
                               WeightLevel::token, 0,   2,       20,      0};
  CHECK(minform::loss<double>().importanceWeights(in, out, kept, slots) == kOk);
  CHECK_NEAR(out[0], 2 / 1.525, 1e-15);
  CHECK_NEAR(out[1], .1 / 1.525, 1e-15);
  CHECK(kept[0] == 1 && kept[3] == 1);
}

// Long rows, several blocks: the same bits for every number of threads.
template <class T>
static void threads() {
  const int64_t rows = 12, length = 1500;
  std::vector<int32_t> offsets;
  for (int64_t row = 0; row <= rows; row++) offsets.push_back(static_cast<int32_t>(row * length));
  std::vector<T> logProbs, old, advantages;
  for (int64_t i = 0; i < rows * length; i++) {
    const double x = static_cast<double>(i);
    logProbs.push_back(T(std::sin(x)));
    old.push_back(T(std::sin(1.3 * x)));
    advantages.push_back(T(std::cos(.7 * x)));
  }
  const PolicyInput<T> in{
      {offsets.data(), rows}, logProbs.data(), old.data(), advantages.data(), false, nullptr, nullptr};
  std::vector<T> first(logProbs.size()), grad(logProbs.size());
  double firstSlots[kLossSlots], slots[kLossSlots];
  setNumThreads(1);
  CHECK(minform::loss<T>().policy(ppo(3, 10), in, kTokenMean, first.data(), firstSlots) == kOk);
  for (int count : {2, 5}) {
    setNumThreads(count);
    CHECK(minform::loss<T>().policy(ppo(3, 10), in, kTokenMean, grad.data(), slots) == kOk);
    CHECK(std::memcmp(grad.data(), first.data(), grad.size() * sizeof(T)) == 0);
    CHECK(std::memcmp(slots, firstSlots, sizeof slots) == 0);
  }
  double expected = 0;
  for (size_t i = 0; i < logProbs.size(); i++) {
    const double ratio = std::exp(static_cast<double>(logProbs[i]) - static_cast<double>(old[i])), a = advantages[i];
    const double upper = std::fmax(-a * ratio, -a * std::fmin(std::fmax(ratio, .8), 1.28));
    expected += a < 0 ? std::fmin(upper, -a * 3) : upper;
  }
  CHECK_NEAR(slots[kSum] / expected, 1, sizeof(T) == 8 ? 1e-12 : 1e-6);
}

int main() {
  goldenPpo<double>(1e-12);
  goldenPpo<float>(2e-7);
  masked<double>();
  masked<float>();
  promptTokens();
  kl();
  value();
  weights();
  threads<double>();
  threads<float>();
  return checkResult();
}
