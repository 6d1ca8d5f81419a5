/* The C interface from C: values against closed forms, errors, and, where there is no device, that it says so. */
#include "minform/c_api.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      failures++;                                                    \
    }                                                                \
  } while (0)

static int near(double actual, double expected) { return fabs(actual - expected) <= 1e-12 * (1 + fabs(expected)); }

static int64_t status;
static const minform_call host = {MINFORM_HOST, NULL, &status};

static void credit(void) {
  const int32_t offsets[] = {0, 3, 3, 4};
  const double rewards[] = {0.5, -1, 2, 7};
  double credited[4], returns[4], outcomes[3], gradient[4], weights[4];
  CHECK(minform_credit(&host, MINFORM_FLOAT64, MINFORM_STRICT_MIN_FORM, 0, 3, 4, offsets, rewards, NULL, NULL,
                       credited, returns, outcomes, NULL) == MINFORM_OK);
  CHECK(status == -1);
  CHECK(near(returns[0], -1) && near(returns[1], -1) && near(returns[2], 2) && near(returns[3], 7));
  CHECK(near(outcomes[0], -1) && outcomes[1] == 0 && near(outcomes[2], 7));

  const double temperature = 0.5, upstream[] = {1, 1, 1};
  double total = 0, soft = 0;
  for (int k = 0; k < 3; k++) total += exp(-rewards[k] / temperature);
  for (int k = 0; k < 3; k++) soft += rewards[k] * exp(-rewards[k] / temperature) / total;
  CHECK(minform_credit(&host, MINFORM_FLOAT64, MINFORM_MIN_FORM, temperature, 3, 4, offsets, rewards, NULL, NULL,
                       credited, returns, outcomes, weights) == MINFORM_OK);
  CHECK(near(outcomes[0], soft));
  CHECK(minform_min_form_backward(&host, MINFORM_FLOAT64, temperature, 3, 4, offsets, rewards, NULL, NULL, NULL,
                                  upstream, gradient) == MINFORM_OK);
  for (int k = 0; k < 3; k++) CHECK(near(gradient[k], weights[k] * (1 - (rewards[k] - soft) / temperature)));

  CHECK(minform_returns(&host, MINFORM_FLOAT64, 0.5, 3, 4, offsets, rewards, NULL, returns) == MINFORM_OK);
  CHECK(near(returns[0], 0.5 + 0.5 * (-1 + 0.5 * 2)) && near(returns[2], 2));
}

static void advantages(void) {
  const float rewards[] = {1, 0, 4, 2};
  const int32_t index[] = {0, 0, 1, 0};
  const minform_groups groups = {index, 2, 0, 0}, raw = {index, 2, 1, 0};
  const double lengths[] = {1, 1, 5, 2};
  minform_group_stats stats;
  float each[4];
  CHECK(minform_outcomes(&host, MINFORM_FLOAT32, MINFORM_RLOO, MINFORM_STD_NONE, 0, 1, 4, rewards, NULL, &groups, each,
                         &stats) == MINFORM_OK);
  CHECK(each[0] == 0.0f && each[1] == -1.5f && each[2] == 0.0f && each[3] == 1.5f);
  CHECK(stats.groups == 2 && stats.singletons == 1 && stats.zero_variance == 0 && stats.excluded == 0 &&
        stats.first_singleton == 2);
  CHECK(minform_outcomes(&host, MINFORM_FLOAT32, MINFORM_GRPO, MINFORM_STD_GROUP, 0, 1, 4, rewards, NULL, &raw, each,
                         NULL) == MINFORM_OK);
  CHECK(each[0] == 0.0f && each[1] == -1.0f && each[2] == 4.0f && each[3] == 1.0f);
  CHECK(minform_outcomes(&host, MINFORM_FLOAT32, MINFORM_PASS_K, MINFORM_STD_NONE, 0, 1, 4, rewards, NULL, &groups,
                         each, NULL) == MINFORM_OK);
  CHECK(each[0] == 0.0f && each[1] == 0.0f && each[3] == 1.0f);
  CHECK(minform_outcomes(&host, MINFORM_FLOAT32, MINFORM_OPO, MINFORM_STD_NONE, 0, 1, 4, rewards, lengths, &groups,
                         each, NULL) == MINFORM_OK);
  CHECK(each[0] == -0.25f && each[1] == -1.25f && each[3] == 0.75f);

  const int32_t offsets[] = {0, 2};
  const double r[] = {1, 2}, v[] = {0.5, 0.25}, bootstrap[] = {3};
  double out[2], returns[2];
  CHECK(minform_gae(&host, MINFORM_FLOAT64, 0.9, 0.8, 1, 1, 2, offsets, r, v, NULL, bootstrap, out, returns) ==
        MINFORM_OK);
  const double last = 2 + 0.9 * 3 - 0.25, first = 1 + 0.9 * 0.25 - 0.5 + 0.9 * 0.8 * last;
  CHECK(near(out[1], last) && near(out[0], first) && near(returns[0], first + 0.9 * 0.2 * last + 0.5));
  const double less[] = {0.5};
  CHECK(minform_reward_to_go(&host, MINFORM_FLOAT64, 0.9, 1, 2, offsets, r, NULL, less, out, returns) == MINFORM_OK);
  CHECK(near(returns[0], 2.8) && near(out[0], 2.3) && near(out[1], 1.5));
}

/* Two responses of two tokens to one prompt. */
static void leave_one_out(void) {
  const int32_t offsets[] = {0, 2, 4}, index[] = {0, 0}, step_offsets[] = {0, 1, 2}, step_ends[] = {1, 1};
  const minform_groups groups = {index, 1, 0, 0};
  const minform_baseline_rule outcome = {MINFORM_BASELINE_OUTCOME, 0, 0};
  const double rewards[] = {0, 1, 2, 3}, step_rewards[] = {1, 5}, kl[] = {1, 1, 0, 0};
  double out[4], returns[4];
  CHECK(minform_token_rloo(&host, MINFORM_FLOAT64, &outcome, 2, 4, offsets, rewards, NULL, 0, NULL, NULL, NULL, 0, 0,
                           &groups, out, returns, NULL) == MINFORM_OK);
  CHECK(near(out[0], 1 - 5) && near(returns[0], 1) && near(returns[3], 3));
  CHECK(minform_token_rloo(&host, MINFORM_FLOAT64, &outcome, 2, 4, offsets, rewards, NULL, 0, NULL, NULL, kl, 0.5, 0,
                           &groups, out, returns, NULL) == MINFORM_OK);
  CHECK(near(out[0], 0 - 5));
  CHECK(minform_step_rloo(&host, MINFORM_FLOAT64, &outcome, 2, 4, offsets, 2, step_offsets, step_ends, step_rewards,
                          NULL, &groups, out, returns, NULL) == MINFORM_OK);
  CHECK(near(out[0], 1 - 5) && near(out[3], 5 - 1) && near(returns[2], 5));
  const double squares[] = {1, 1, 1, 1}, certain[] = {0, 0, 0, 0};
  CHECK(minform_optimal_baseline(&host, MINFORM_FLOAT64, 1, 2, 4, offsets, rewards, certain, squares, NULL, &groups,
                                 out, returns, NULL) == MINFORM_OK);
  CHECK(near(returns[0], 1) && near(returns[2], 5));
}

static void streams(void) {
  const int32_t offsets[] = {0, 2, 4}, steps[] = {0, 1, 2}, ends[] = {1, 0};
  const uint8_t mask[] = {1, 1, 1, 0};
  const double values[] = {1, 3, 5, NAN}, per_row[] = {10, 20}, verifiable[] = {1, NAN};
  double out[4], coded[2];
  uint8_t kept[4];
  CHECK(minform_whiten(&host, MINFORM_FLOAT64, 1, 0, 0, 4, values, mask, out) == MINFORM_OK);
  CHECK(near(out[0], -sqrt(1.5)) && near(out[1], 0) && near(out[2], sqrt(1.5)) && out[3] == 0);
  CHECK(minform_add_per_row(&host, MINFORM_FLOAT64, MINFORM_ON_LAST, 2, 2, 4, offsets, values, per_row, mask, out) ==
        MINFORM_OK);
  CHECK(out[0] == 1 && out[1] == 23 && out[2] == 45 && out[3] == 0);
  CHECK(minform_add_per_row(&host, MINFORM_FLOAT64, MINFORM_ON_EVERY, 1, 2, 4, offsets, NULL, per_row, NULL, out) ==
        MINFORM_OK);
  CHECK(out[0] == 10 && out[3] == 20);
  CHECK(minform_code_verifiable(&host, MINFORM_FLOAT64, -1, 2, verifiable, coded) == MINFORM_OK);
  CHECK(coded[0] == 0 && coded[1] == 0);
  CHECK(minform_scorable_tokens(&host, MINFORM_FLOAT64, 2, 4, offsets, verifiable, mask, kept) == MINFORM_OK);
  CHECK(kept[0] == 1 && kept[1] == 1 && kept[2] == 0 && kept[3] == 0);
  CHECK(minform_kl_reward(&host, MINFORM_FLOAT64, 0.5, 2, 4, offsets, values, values, mask, out) == MINFORM_OK);
  CHECK(out[0] == 0.5 && out[2] == 2.5 && out[3] == 0);
  CHECK(minform_place_steps(&host, MINFORM_FLOAT64, MINFORM_OVER_SPAN, 2, 4, offsets, 2, steps, ends, per_row, NULL,
                            NULL, out) == MINFORM_OK);
  CHECK(out[0] == 10 && out[1] == 10 && out[2] == 20 && out[3] == 0);
  CHECK(minform_place_steps(&host, MINFORM_FLOAT64, MINFORM_AT_END, 2, 4, offsets, 2, steps, ends, per_row, NULL, NULL,
                            out) == MINFORM_OK);
  CHECK(out[0] == 0 && out[1] == 10);
}

static void log_probs(void) {
  const double logits[] = {1, 2, 3, 0, 0, 0}, upstream[] = {1, 2};
  const int32_t targets[] = {2, 0};
  double logp[2], entropy[2], squares[2], lse[2], gradient[6];
  CHECK(minform_token_log_probs(&host, MINFORM_FLOAT64, 2, 3, logits, targets, 1, logp, entropy, squares, lse) ==
        MINFORM_OK);
  const double sum = log(exp(1.0) + exp(2.0) + exp(3.0));
  CHECK(near(lse[0], sum) && near(logp[0], 3 - sum) && near(logp[1], -log(3.0)) && near(entropy[1], log(3.0)));
  CHECK(near(squares[1], 1.0 / 3));
  CHECK(minform_token_log_probs_backward(&host, MINFORM_FLOAT64, 2, 3, logits, targets, 1, lse, NULL, upstream, NULL,
                                         gradient) == MINFORM_OK);
  CHECK(near(gradient[2], 1 - exp(3 - sum)) && near(gradient[3], 2 * (1 - 1.0 / 3)) && near(gradient[4], -2.0 / 3));

  const double hidden[] = {1, 2, -1, 0.5}, weight[] = {1, 0, 0, 1, 1, 1}, bias[] = {0, 0, 0.25};
  double linear[2], again[2], z[6], grad_hidden[4], grad_weight[6], grad_bias[3];
  for (int n = 0; n < 2; n++)
    for (int k = 0; k < 3; k++) z[3 * n + k] = hidden[2 * n] * weight[2 * k] + hidden[2 * n + 1] * weight[2 * k + 1] + bias[k];
  CHECK(minform_linear_log_probs(&host, MINFORM_FLOAT64, 2, 2, 3, hidden, weight, bias, targets, 0.7, linear, NULL,
                                 NULL, lse) == MINFORM_OK);
  CHECK(minform_token_log_probs(&host, MINFORM_FLOAT64, 2, 3, z, targets, 0.7, again, NULL, NULL, lse) == MINFORM_OK);
  CHECK(near(linear[0], again[0]) && near(linear[1], again[1]));
  CHECK(minform_token_log_probs_backward(&host, MINFORM_FLOAT64, 2, 3, z, targets, 0.7, lse, NULL, upstream, NULL,
                                         gradient) == MINFORM_OK);
  CHECK(minform_linear_log_probs_backward(&host, MINFORM_FLOAT64, 2, 2, 3, hidden, weight, bias, targets, 0.7, lse,
                                          NULL, upstream, NULL, grad_hidden, grad_weight, grad_bias, 0) == MINFORM_OK);
  CHECK(near(grad_bias[1], gradient[1] + gradient[4]));
  CHECK(near(grad_hidden[0], gradient[0] * weight[0] + gradient[1] * weight[2] + gradient[2] * weight[4]));
  CHECK(near(grad_weight[2], gradient[1] * hidden[0] + gradient[4] * hidden[2]));
  CHECK(minform_linear_log_probs_backward(&host, MINFORM_FLOAT64, 2, 2, 3, hidden, weight, bias, targets, 0.7, lse,
                                          NULL, upstream, NULL, grad_hidden, grad_weight, grad_bias, 1) == MINFORM_OK);
  CHECK(near(grad_bias[1], 2 * (gradient[1] + gradient[4])));
}

static void sampling(void) {
  const double logits[] = {0, log(2.0), -INFINITY, 1, 1, 0};
  const minform_counter counters[] = {{0, 0, 0}, {1, 2, 3}};
  const minform_sampling_rule greedy = {0, 0, 1, 0}, top = {1, 1, 1, 0}, all = {1, 0, 1, 0};
  int32_t tokens[2];
  double logp[2], left[2];
  CHECK(minform_sample_tokens(&host, MINFORM_FLOAT64, &greedy, 7, 2, 3, logits, counters, tokens, logp, left) ==
        MINFORM_OK);
  CHECK(tokens[0] == 1 && tokens[1] == 0 && fabs(logp[0] - log(2.0 / 3)) < 1e-9 && left[0] == 0);
  CHECK(minform_sample_tokens(&host, MINFORM_FLOAT64, &top, 7, 2, 3, logits, counters, tokens, logp, left) ==
        MINFORM_OK);
  CHECK(tokens[0] == 1 && tokens[1] == 0 && fabs(left[1]) < 1e-9);
  /* The published first number of Philox4x32-10, 0x6627e8d5 of 2^32, is above 1/3: the second token. */
  CHECK(minform_sample_tokens(&host, MINFORM_FLOAT64, &all, 0, 1, 3, logits, counters, tokens, NULL, NULL) ==
        MINFORM_OK);
  CHECK(tokens[0] == 1);
  CHECK(minform_sample_tokens(&host, MINFORM_FLOAT64, &all, 4, 1, 3, logits, counters, tokens, NULL, NULL) ==
        MINFORM_OK);
  CHECK(tokens[0] == 0);
  /* Probabilities 1/3 and 2/3: both rules leave the second token alone. */
  const minform_sampling_rule nucleus = {1, 0, 0.5, 0}, likely = {1, 0, 1, 0.6};
  CHECK(minform_sample_tokens(&host, MINFORM_FLOAT64, &nucleus, 4, 1, 3, logits, counters, tokens, NULL, left) ==
        MINFORM_OK);
  CHECK(tokens[0] == 1 && fabs(left[0]) < 1e-9);
  CHECK(minform_sample_tokens(&host, MINFORM_FLOAT64, &likely, 4, 1, 3, logits, counters, tokens, NULL, left) ==
        MINFORM_OK);
  CHECK(tokens[0] == 1 && fabs(left[0]) < 1e-9);
}

static void loss_and_step(void) {
  const int32_t offsets[] = {0, 1, 2};
  const double now[] = {-1, -2}, old[] = {-1.1, -1}, advantages[] = {2, -1};
  double gradient[2], values[2], slots[MINFORM_LOSS_SLOTS];
  uint8_t kept[2];
  const minform_aggregation mean = {MINFORM_TOKEN_MEAN, NULL, 0, NULL, NAN}, sum = {MINFORM_TOKEN_MEAN, NULL, 0, NULL, 1};
  minform_policy_parameters p = {MINFORM_PPO, 0.8, 1.2, INFINITY, INFINITY, 1, 1, 20};
  CHECK(minform_policy_loss(&host, MINFORM_FLOAT64, &p, &mean, 2, 2, offsets, now, old, advantages, 0, NULL, NULL,
                            gradient, slots) == MINFORM_OK);
  CHECK(near(slots[MINFORM_SLOT_LOSS], (-2 * exp(0.1) + 0.8) / 2) && near(gradient[0], -exp(0.1)) && gradient[1] == 0);
  CHECK(slots[MINFORM_SLOT_COUNT] == 2 && slots[MINFORM_SLOT_TOKENS] == 2 && near(slots[MINFORM_SLOT_HIGHEST], 0.1));
  p.form = MINFORM_REINFORCE;
  CHECK(minform_policy_loss(&host, MINFORM_FLOAT64, &p, &sum, 2, 2, offsets, now, NULL, advantages, 1, NULL, NULL,
                            gradient, slots) == MINFORM_OK);
  CHECK(near(slots[MINFORM_SLOT_LOSS], 2 - 2) && near(gradient[0], -2) && near(gradient[1], 1));
  const double weights[] = {2, 3};
  const minform_aggregation added = {MINFORM_SUM_OF_TOKENS, NULL, 0, NULL, NAN};
  CHECK(minform_policy_loss(&host, MINFORM_FLOAT64, &p, &added, 2, 2, offsets, now, NULL, advantages, 0, weights, NULL,
                            gradient, slots) == MINFORM_OK);
  CHECK(near(slots[MINFORM_SLOT_LOSS], 4 - 6) && near(gradient[0], -4) && near(gradient[1], 3));
  CHECK(minform_kl(&host, MINFORM_FLOAT64, MINFORM_K2, MINFORM_KL_GRADIENT_SAME, 20, &mean, 2, 2, offsets, now, old,
                   NULL, NULL, values, gradient, slots) == MINFORM_OK);
  CHECK(near(values[0], 0.005) && near(values[1], 0.5) && near(gradient[1], -0.5));
  CHECK(minform_value_loss(&host, MINFORM_FLOAT64, 0, &mean, 2, 2, offsets, now, NULL, advantages, NULL, gradient,
                           slots) == MINFORM_OK);
  CHECK(near(slots[MINFORM_SLOT_LOSS], (4.5 + 0.5) / 2) && near(gradient[0], -1.5));
  CHECK(minform_entropy(&host, MINFORM_FLOAT64, &mean, 2, 2, offsets, advantages, NULL, gradient, slots) == MINFORM_OK);
  CHECK(near(slots[MINFORM_SLOT_LOSS], -0.5) && near(gradient[0], -0.5));
  CHECK(minform_importance_weights(&host, MINFORM_FLOAT64, MINFORM_MASK_OUT, MINFORM_PER_TOKEN, 0.5, 2, 20, 1, 2, 2,
                                   offsets, now, old, NULL, values, kept, slots) == MINFORM_OK);
  CHECK(near(values[0], exp(0.1)) && values[1] == 0 && kept[0] == 1 && kept[1] == 0);

  double params[] = {1, 2}, first[] = {0, 0}, second[] = {0, 0}, half[] = {1, 1};
  const double grads[] = {3, -4}, bad[] = {1, INFINITY};
  const void* tensors[] = {grads, bad};
  const int64_t counts[] = {2, 2};
  const minform_adamw_options step = {1, 0.1, 0.9, 0.999, 1e-8, 0, 1};
  minform_norm norm;
  int64_t guard = -1;
  CHECK(minform_grad_norm(&host, MINFORM_FLOAT64, 1, tensors, counts, 1, &norm, &guard) == MINFORM_OK);
  CHECK(norm.norm == 5 && near(norm.scale, 1 / 5.000001) && guard == -1);
  CHECK(minform_scale(&host, MINFORM_FLOAT64, 2, half, &norm.scale) == MINFORM_OK && near(half[1], norm.scale));
  CHECK(minform_adamw(&host, MINFORM_FLOAT64, 2, &step, &norm.scale, NULL, params, grads, first, second) == MINFORM_OK);
  CHECK(fabs(params[0] - 0.9) < 1e-8 && fabs(params[1] - 2.1) < 1e-8 && near(first[0], 0.1 * 3 * norm.scale));
  CHECK(minform_grad_norm(&host, MINFORM_FLOAT64, 2, tensors, counts, 1, &norm, &guard) == MINFORM_BAD_VALUE);
  CHECK(status == 1 && isnan(norm.norm) && guard != -1);
  CHECK(minform_adamw(&host, MINFORM_FLOAT64, 2, &step, NULL, &guard, params, grads, first, second) == MINFORM_OK);
  CHECK(fabs(params[0] - 0.9) < 1e-8);
  guard = -1;
  CHECK(minform_check_grads(&host, MINFORM_FLOAT64, 2, bad, 1, NULL, &guard) == MINFORM_BAD_VALUE && guard != -1);
}

static void errors(void) {
  const int32_t offsets[] = {0, 2}, falling[] = {0, 3, 2}, bad_targets[] = {5};
  const double rewards[] = {1, NAN};
  double out[4] = {0, 0, 0, 0};
  CHECK(minform_returns(&host, MINFORM_FLOAT64, 1, 1, 2, offsets, rewards, NULL, out) == MINFORM_BAD_VALUE);
  CHECK(status == 1 && strstr(minform_last_error(), "index 1") != NULL);
  CHECK(minform_returns(&host, MINFORM_FLOAT64, 2, 1, 2, offsets, rewards, NULL, out) == MINFORM_BAD_ARGUMENT);
  CHECK(strstr(minform_last_error(), "gamma") != NULL);
  CHECK(minform_returns(&host, MINFORM_FLOAT64, 1, 2, 2, falling, rewards, NULL, out) == MINFORM_BAD_ARGUMENT);
  CHECK(minform_returns(&host, MINFORM_FLOAT64, 1, 1, 2, offsets, NULL, NULL, out) == MINFORM_BAD_ARGUMENT);
  CHECK(minform_returns(NULL, MINFORM_FLOAT64, 1, 1, 2, offsets, out, NULL, out) == MINFORM_BAD_ARGUMENT);
  CHECK(minform_returns(&host, MINFORM_FLOAT16, 1, 1, 2, offsets, out, NULL, out) == MINFORM_BAD_ARGUMENT);
  CHECK(minform_token_log_probs(&host, MINFORM_FLOAT64, 1, 2, out, bad_targets, 1, out, NULL, NULL, out) ==
        MINFORM_BAD_ARGUMENT);
  CHECK(minform_set_num_threads(0) == MINFORM_BAD_ARGUMENT && minform_set_num_threads(2) == MINFORM_OK);
  CHECK(minform_version() == MINFORM_C_API_VERSION);

  char reason[256] = "";
  if (minform_cuda_devices(reason, sizeof reason) > 0) return;
  const minform_call device = {MINFORM_CUDA, NULL, NULL};
  const double fine[] = {1, 2};
  CHECK(strlen(reason) > 0);
  CHECK(minform_returns(&device, MINFORM_FLOAT64, 1, 1, 2, offsets, fine, NULL, out) == MINFORM_NO_DEVICE);
  CHECK(strlen(minform_last_error()) > 0);
}

int main(void) {
  credit();
  advantages();
  leave_one_out();
  streams();
  log_probs();
  sampling();
  loss_and_step();
  errors();
  return failures == 0 ? 0 : 1;
}
