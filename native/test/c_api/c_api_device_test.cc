// The C interface on device memory against the same calls on the host. The device is the emulator.
#include <functional>

#include "cuda/device_test.h"
#include "minform/c_api.h"

using namespace minform::cuda;

namespace {

constexpr int64_t kRows = 3, kTokens = 40, kVocabulary = 90, kWidth = 8;
const std::vector<int32_t> kOffsets = offsetsOf({25, 0, 15});

// Both sides of an array that a call reads or updates.
template <class T>
struct Both {
  std::vector<T> host;
  Uploaded<T> device;
  explicit Both(std::vector<T> values) : host(std::move(values)), device(host) {}
  T* at(bool onDevice) { return onDevice ? device.get() : host.data(); }
  void check(double bound) {
    std::vector<T> got(host.size());
    copyToHost(got.data(), device.get(), got.size() * sizeof(T), nullptr);
    CHECK(normRatio(got, host) <= bound);
  }
};

void onBothSides(const std::function<minform_error(const minform_call*, bool)>& body) {
  const minform_call host{MINFORM_HOST, nullptr, nullptr}, waiting{MINFORM_CUDA, nullptr, nullptr};
  CHECK(body(&host, false) == MINFORM_OK);
  CHECK(body(&waiting, true) == MINFORM_OK);
}

std::vector<double> many(uint32_t seed, size_t count, double scale = 1) {
  return Deviates(seed).many<double>(count, scale);
}

void families() {
  Both<int32_t> offsets(kOffsets);
  Both<double> rewards(many(1, kTokens)), values(many(2, kTokens)), out(many(0, kTokens)), more(many(0, kTokens)),
      perRow(many(0, kRows)), loss(many(0, 1));
  onBothSides([&](const minform_call* call, bool d) {
    return minform_credit(call, MINFORM_FLOAT64, MINFORM_MIN_FORM, 0.3, kRows, kTokens, offsets.at(d), rewards.at(d),
                          nullptr, nullptr, out.at(d), more.at(d), perRow.at(d), nullptr);
  });
  out.check(1e-14), more.check(1e-14), perRow.check(1e-14);
  onBothSides([&](const minform_call* call, bool d) {
    return minform_min_form_backward(call, MINFORM_FLOAT64, 0.3, kRows, kTokens, offsets.at(d), rewards.at(d), nullptr,
                                     values.at(d), nullptr, nullptr, out.at(d));
  });
  out.check(1e-14);
  onBothSides([&](const minform_call* call, bool d) {
    return minform_gae(call, MINFORM_FLOAT64, 0.99, 0.9, kRows, kTokens, offsets.at(d), rewards.at(d), values.at(d),
                       nullptr, perRow.at(d), out.at(d), more.at(d));
  });
  out.check(1e-12), more.check(1e-12);
  onBothSides([&](const minform_call* call, bool d) {
    return minform_ppo_loss(call, MINFORM_FLOAT64, 0.8, 1.2, INFINITY, 20, NAN, kRows, kTokens, offsets.at(d),
                            rewards.at(d), values.at(d), more.at(d), nullptr, out.at(d), loss.at(d));
  });
  out.check(1e-12), loss.check(1e-12);
  Both<int32_t> groups({0, 1, 0});
  Both<double> outcomes(many(10, kRows)), alone(many(0, kRows));
  onBothSides([&](const minform_call* call, bool d) {
    return minform_rloo(call, MINFORM_FLOAT64, kRows, outcomes.at(d), groups.at(d), 2, alone.at(d));
  });
  alone.check(0);
}

void logProbs() {
  std::vector<int32_t> ids;
  for (int32_t row = 0; row < kRows; row++) ids.push_back(row * 37 % kVocabulary);
  Both<int32_t> targets(ids);
  Both<double> logits(many(3, kRows * kVocabulary, 3)), logProb(many(0, kRows)), lse(many(0, kRows)),
      upstream(many(4, kRows)), grad(many(0, kRows * kVocabulary)), hidden(many(5, kRows * kWidth)),
      weight(many(6, kVocabulary * kWidth)), gradHidden(many(0, kRows * kWidth)),
      gradWeight(many(0, kVocabulary * kWidth));
  onBothSides([&](const minform_call* call, bool d) {
    return minform_token_log_probs(call, MINFORM_FLOAT64, kRows, kVocabulary, logits.at(d), targets.at(d), 0.9,
                                   logProb.at(d), nullptr, nullptr, lse.at(d));
  });
  logProb.check(1e-13), lse.check(1e-13);
  onBothSides([&](const minform_call* call, bool d) {
    return minform_token_log_probs_backward(call, MINFORM_FLOAT64, kRows, kVocabulary, logits.at(d), targets.at(d), 0.9,
                                            lse.at(d), nullptr, upstream.at(d), nullptr, grad.at(d));
  });
  grad.check(1e-13);
  onBothSides([&](const minform_call* call, bool d) {
    return minform_linear_log_probs(call, MINFORM_FLOAT64, kRows, kWidth, kVocabulary, hidden.at(d), weight.at(d),
                                    nullptr, targets.at(d), 1, logProb.at(d), nullptr, nullptr, lse.at(d));
  });
  logProb.check(1e-12);
  onBothSides([&](const minform_call* call, bool d) {
    return minform_linear_log_probs_backward(call, MINFORM_FLOAT64, kRows, kWidth, kVocabulary, hidden.at(d),
                                             weight.at(d), nullptr, targets.at(d), 1, lse.at(d), nullptr,
                                             upstream.at(d), nullptr, gradHidden.at(d), gradWeight.at(d), nullptr);
  });
  gradHidden.check(1e-12), gradWeight.check(1e-12);
}

// A bad gradient holds the step back, and is reported; so is a number that arises in the step.
void step() {
  const auto adamw = [](const minform_call* call, double* params, double* grads, double* first, double* second) {
    return minform_adamw(call, MINFORM_FLOAT64, kTokens, 1, 0.1, 0.9, 0.999, 1e-8, 0, 1, params, grads, first, second);
  };
  Both<double> params(many(7, kTokens)), grads(many(8, kTokens)), first(many(9, kTokens)),
      second(std::vector<double>(kTokens, 0.5));
  onBothSides([&](const minform_call* call, bool d) {
    return adamw(call, params.at(d), grads.at(d), first.at(d), second.at(d));
  });
  params.check(0), first.check(0), second.check(0);

  std::vector<double> bad = grads.host;
  bad[7] = NAN;
  Uploaded<double> badGrads(bad);
  StatusWord status;
  const minform_call going{MINFORM_CUDA, nullptr, status.get()}, waiting{MINFORM_CUDA, nullptr, nullptr};
  CHECK(adamw(&going, params.at(true), badGrads.get(), first.at(true), second.at(true)) == MINFORM_OK);
  CHECK(status.read() == 7);
  CHECK(adamw(&waiting, params.at(true), badGrads.get(), first.at(true), second.at(true)) == MINFORM_BAD_VALUE);
  params.check(0);
  std::vector<double> negative(kTokens, 0.5);
  negative[11] = -1e9;
  Uploaded<double> badMoments(negative);
  CHECK(adamw(&going, params.at(true), grads.at(true), first.at(true), badMoments.get()) == MINFORM_OK);
  CHECK(status.read() == 11);
}

void test() {
  families();
  logProbs();
  step();
}

}  // namespace

int main() { return runOnDevice(test); }
