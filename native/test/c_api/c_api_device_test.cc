// The C interface on device memory against the same calls on the host. The device is the emulator.
#include <functional>
#include <string>

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
      perRow(many(0, kRows));
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
    return minform_gae(call, MINFORM_FLOAT64, 0.99, 0.9, 1, kRows, kTokens, offsets.at(d), rewards.at(d), values.at(d),
                       nullptr, perRow.at(d), out.at(d), more.at(d));
  });
  out.check(1e-12), more.check(1e-12);
  onBothSides([&](const minform_call* call, bool d) {
    return minform_reward_to_go(call, MINFORM_FLOAT64, 0.9, kRows, kTokens, offsets.at(d), rewards.at(d), nullptr,
                                perRow.at(d), out.at(d), more.at(d));
  });
  out.check(1e-12), more.check(1e-12);
  onBothSides([&](const minform_call* call, bool d) {
    return minform_returns(call, MINFORM_FLOAT64, 0.9, kRows, kTokens, offsets.at(d), rewards.at(d), nullptr,
                           out.at(d));
  });
  out.check(1e-12);
}

// Half of the tokens, in no order.
std::vector<uint8_t> someMask() {
  std::vector<uint8_t> mask;
  for (int64_t i = 0; i < kTokens; i++) mask.push_back(i * 7 % 5 < 3);
  return mask;
}

void losses() {
  Both<int32_t> offsets(kOffsets), groups({0, 1, 0});
  Both<uint8_t> mask(someMask()), kept(std::vector<uint8_t>(kTokens, 9));
  Both<double> now(many(1, kTokens)), old(many(2, kTokens)), advantages(many(3, kTokens)), perRow(many(4, kRows)),
      out(many(0, kTokens)), more(many(0, kTokens)), slots(many(0, MINFORM_LOSS_SLOTS)), promptTokens({40, 50, 60});
  const auto mean = [&](bool d, int32_t mode) {
    return minform_aggregation{static_cast<minform_aggregation_mode>(mode), groups.at(d), 2,
                               mode == MINFORM_PROMPT_MEAN ? promptTokens.at(d) : nullptr, NAN};
  };
  for (int32_t form = MINFORM_PPO; form <= MINFORM_REINFORCE; form++) {
    const minform_policy_parameters how{static_cast<minform_policy_loss_form>(form),
                                        form == MINFORM_GMPO ? -0.4 : 0.8,
                                        form == MINFORM_GMPO ? 0.4 : 1.2,
                                        3,
                                        4,
                                        1,
                                        1.05,
                                        20};
    for (const bool row : {false, true}) {
      onBothSides([&](const minform_call* call, bool d) {
        const minform_aggregation by = mean(d, form % 5);
        return minform_policy_loss(call, MINFORM_FLOAT64, &how, &by, kRows, kTokens, offsets.at(d), now.at(d),
                                   old.at(d), row ? perRow.at(d) : advantages.at(d), row, row ? now.at(d) : nullptr,
                                   mask.at(d), out.at(d), slots.at(d));
      });
      out.check(1e-12), slots.check(1e-12);
    }
  }
  for (int32_t estimator = MINFORM_K1; estimator <= MINFORM_K_ABS; estimator++) {
    onBothSides([&](const minform_call* call, bool d) {
      const minform_aggregation by = mean(d, MINFORM_SEQ_MEAN_TOKEN_MEAN);
      return minform_kl(call, MINFORM_FLOAT64, static_cast<minform_kl_estimator>(estimator),
                        static_cast<minform_kl_gradient>(estimator % 3), 20, &by, kRows, kTokens, offsets.at(d),
                        now.at(d), old.at(d), advantages.at(d), mask.at(d), out.at(d), more.at(d), slots.at(d));
    });
    out.check(1e-12), more.check(1e-12), slots.check(1e-12);
  }
  onBothSides([&](const minform_call* call, bool d) {
    const minform_aggregation by = mean(d, MINFORM_TOKEN_MEAN);
    return minform_value_loss(call, MINFORM_FLOAT64, 0.2, &by, kRows, kTokens, offsets.at(d), now.at(d), old.at(d),
                              advantages.at(d), mask.at(d), out.at(d), slots.at(d));
  });
  out.check(1e-12), slots.check(1e-12);
  onBothSides([&](const minform_call* call, bool d) {
    const minform_aggregation by = mean(d, MINFORM_SUM_OF_TOKENS);
    return minform_entropy(call, MINFORM_FLOAT64, &by, kRows, kTokens, offsets.at(d), now.at(d), mask.at(d), out.at(d),
                           slots.at(d));
  });
  out.check(1e-12), slots.check(1e-12);
  for (int32_t level = MINFORM_PER_TOKEN; level <= MINFORM_SEQUENCE_MEAN; level++) {
    onBothSides([&](const minform_call* call, bool d) {
      return minform_importance_weights(call, MINFORM_FLOAT64, static_cast<minform_correction>(level % 2),
                                        static_cast<minform_weight_level>(level), 0.5, 2, 20, level, kRows, kTokens,
                                        offsets.at(d), now.at(d), old.at(d), mask.at(d), out.at(d), kept.at(d),
                                        slots.at(d));
    });
    out.check(1e-12), kept.check(0), slots.check(1e-12);
  }
}

void groupsAndStreams() {
  Both<int32_t> offsets(kOffsets), index({0, 1, 0}), stepOffsets({0, 3, 3, 5}), stepEnds({2, 9, 24, 4, 14});
  Both<uint8_t> mask(someMask()), kept(std::vector<uint8_t>(kTokens, 9));
  Both<double> outcomes(many(10, kRows)), alone(many(0, kRows)), lengths({25, 0, 15}), rewards(many(1, kTokens)),
      kl(many(2, kTokens)), squares(std::vector<double>(kTokens, 0.3)), logProbs(std::vector<double>(kTokens, -0.7)),
      steps(many(3, 5)), out(many(0, kTokens)), more(many(0, kTokens)), answers({1, NAN, 0});
  Both<int64_t> stats(std::vector<int64_t>(5, 77));
  const auto groups = [&](bool d) { return minform_groups{index.at(d), 2, 0, 0}; };
  const auto found = [&](bool d) { return reinterpret_cast<minform_group_stats*>(stats.at(d)); };
  for (int32_t form = MINFORM_RLOO; form <= MINFORM_OPO; form++) {
    onBothSides([&](const minform_call* call, bool d) {
      const minform_groups by = groups(d);
      return minform_outcomes(call, MINFORM_FLOAT64, static_cast<minform_outcome_form>(form), MINFORM_STD_GROUP, 1e-6,
                              1, kRows, outcomes.at(d), form == MINFORM_OPO ? lengths.at(d) : nullptr, &by, alone.at(d),
                              form == MINFORM_RLOO ? nullptr : found(d));
    });
    alone.check(0);
  }
  stats.check(0);
  for (int32_t baseline = MINFORM_BASELINE_OUTCOME; baseline <= MINFORM_BASELINE_TOKEN; baseline++) {
    const minform_baseline_rule rule{static_cast<minform_baseline>(baseline), 1, 2};
    onBothSides([&](const minform_call* call, bool d) {
      const minform_groups by = groups(d);
      return minform_token_rloo(call, MINFORM_FLOAT64, &rule, kRows, kTokens, offsets.at(d), rewards.at(d), mask.at(d),
                                5, stepOffsets.at(d), stepEnds.at(d), kl.at(d), 0.1, baseline % 2, &by, out.at(d),
                                more.at(d), found(d));
    });
    out.check(1e-12), more.check(1e-12), stats.check(0);
    onBothSides([&](const minform_call* call, bool d) {
      const minform_groups by = groups(d);
      return minform_step_rloo(call, MINFORM_FLOAT64, &rule, kRows, kTokens, offsets.at(d), 5, stepOffsets.at(d),
                               stepEnds.at(d), steps.at(d), mask.at(d), &by, out.at(d), nullptr, nullptr);
    });
    out.check(1e-12);
  }
  onBothSides([&](const minform_call* call, bool d) {
    const minform_groups by = groups(d);
    return minform_optimal_baseline(call, MINFORM_FLOAT64, 0.9, kRows, kTokens, offsets.at(d), rewards.at(d),
                                    logProbs.at(d), squares.at(d), mask.at(d), &by, out.at(d), more.at(d), found(d));
  });
  out.check(1e-12), more.check(1e-12), stats.check(0);
  onBothSides([&](const minform_call* call, bool d) {
    return minform_whiten(call, MINFORM_FLOAT64, 0, 1e-8, 1, kTokens, rewards.at(d), mask.at(d), out.at(d));
  });
  out.check(1e-12);
  onBothSides([&](const minform_call* call, bool d) {
    return minform_add_per_row(call, MINFORM_FLOAT64, MINFORM_ON_LAST, 2, kRows, kTokens, offsets.at(d), rewards.at(d),
                               outcomes.at(d), mask.at(d), out.at(d));
  });
  out.check(0);
  onBothSides([&](const minform_call* call, bool d) {
    return minform_kl_reward(call, MINFORM_FLOAT64, 0.5, kRows, kTokens, offsets.at(d), rewards.at(d), kl.at(d),
                             mask.at(d), out.at(d));
  });
  out.check(0);
  onBothSides([&](const minform_call* call, bool d) {
    return minform_code_verifiable(call, MINFORM_FLOAT64, -1, kRows, answers.at(d), alone.at(d));
  });
  alone.check(0);
  onBothSides([&](const minform_call* call, bool d) {
    return minform_scorable_tokens(call, MINFORM_FLOAT64, kRows, kTokens, offsets.at(d), answers.at(d), mask.at(d),
                                   kept.at(d));
  });
  kept.check(0);
  for (const minform_place place : {MINFORM_AT_END, MINFORM_OVER_SPAN}) {
    onBothSides([&](const minform_call* call, bool d) {
      return minform_place_steps(call, MINFORM_FLOAT64, place, kRows, kTokens, offsets.at(d), 5, stepOffsets.at(d),
                                 stepEnds.at(d), steps.at(d), nullptr, mask.at(d), out.at(d));
    });
    out.check(0);
  }
}

void sampling() {
  Both<double> logits(many(3, kRows * kVocabulary, 3)), logProb(many(0, kRows)), truncated(many(0, kRows));
  Both<int32_t> tokens(std::vector<int32_t>(kRows, -1));
  Both<minform_counter> counters({{1, 2, 3}, {4, 5, uint64_t{6} << 40}, {7, 8, 9}});
  for (const minform_sampling_rule& rule : {minform_sampling_rule{0.8, 20, 0.9, 0.01}, {1, 0, 1, 0}, {0, 0, 1, 0}}) {
    onBothSides([&](const minform_call* call, bool d) {
      return minform_sample_tokens(call, MINFORM_FLOAT64, &rule, 11, kRows, kVocabulary, logits.at(d), counters.at(d),
                                   tokens.at(d), logProb.at(d), truncated.at(d));
    });
    tokens.check(0), logProb.check(1e-12), truncated.check(1e-12);
  }
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
                                             upstream.at(d), nullptr, gradHidden.at(d), gradWeight.at(d), nullptr, 0);
  });
  gradHidden.check(1e-12), gradWeight.check(1e-12);
  onBothSides([&](const minform_call* call, bool d) {
    return minform_linear_log_probs_backward(call, MINFORM_FLOAT64, kRows, kWidth, kVocabulary, hidden.at(d),
                                             weight.at(d), nullptr, targets.at(d), 1, lse.at(d), nullptr,
                                             upstream.at(d), nullptr, gradHidden.at(d), gradWeight.at(d), nullptr, 1);
  });
  gradWeight.check(1e-12);
}

// A bad gradient holds the step back, and is reported; so is a number that arises in the step.
void step() {
  const auto adamw = [](const minform_call* call, double* params, double* grads, double* first, double* second) {
    const minform_adamw_options options{1, 0.1, 0.9, 0.999, 1e-8, 0, 1};
    return minform_adamw(call, MINFORM_FLOAT64, kTokens, &options, nullptr, nullptr, params, grads, first, second);
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

// Norm, scale and guard stay at the side of the call.
void clippedStep() {
  const minform_adamw_options options{2, 0.1, 0.9, 0.999, 1e-8, 0.01, 1};
  Both<double> params(many(7, kTokens)), grads(many(8, kTokens)), others(many(9, 7)), first(many(9, kTokens)),
      second(std::vector<double>(kTokens, 0.5)), norm(many(0, 2));
  Both<int64_t> guard({-1});
  const int64_t counts[] = {kTokens, 7};
  const auto found = [&](bool d) { return reinterpret_cast<minform_norm*>(norm.at(d)); };
  const auto clip = [&](const minform_call* call, bool d) {
    const void* tensors[] = {grads.at(d), others.at(d)};
    return minform_grad_norm(call, MINFORM_FLOAT64, 2, tensors, counts, 0.1, found(d), guard.at(d));
  };
  const auto step = [&](const minform_call* call, bool d) {
    return minform_adamw(call, MINFORM_FLOAT64, kTokens, &options, &found(d)->scale, guard.at(d), params.at(d),
                         grads.at(d), first.at(d), second.at(d));
  };
  onBothSides(clip);
  norm.check(0), guard.check(0);
  CHECK(norm.host[1] < 0.1);
  onBothSides([&](const minform_call* call, bool d) {
    return minform_check_grads(call, MINFORM_FLOAT64, kTokens, grads.at(d), 2, &found(d)->scale, guard.at(d));
  });
  guard.check(0);
  onBothSides(step);
  params.check(0), first.check(0), second.check(0);
  onBothSides([&](const minform_call* call, bool d) {
    return minform_scale(call, MINFORM_FLOAT64, 7, others.at(d), &found(d)->scale);
  });
  others.check(0);

  others.host[3] = NAN;
  copyToDevice(others.at(true), others.host.data(), 7 * sizeof(double), nullptr);
  const minform_call onHost{MINFORM_HOST, nullptr, nullptr}, onDevice{MINFORM_CUDA, nullptr, nullptr};
  const std::vector<double> before = params.host;
  for (const bool d : {false, true}) {
    CHECK(clip(d ? &onDevice : &onHost, d) == MINFORM_BAD_VALUE);
    CHECK(std::string(minform_last_error()).find("index 3") != std::string::npos);
    CHECK(step(d ? &onDevice : &onHost, d) == MINFORM_OK);
  }
  CHECK(params.host == before);
  params.check(0);
}

void test() {
  families();
  losses();
  groupsAndStreams();
  sampling();
  logProbs();
  step();
  clippedStep();
}

}  // namespace

int main() { return runOnDevice(test); }
