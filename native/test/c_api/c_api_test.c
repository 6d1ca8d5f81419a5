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
  const int32_t groups[] = {0, 0, 1, 0};
  float rloo[4];
  CHECK(minform_rloo(&host, MINFORM_FLOAT32, 4, rewards, groups, 2, rloo) == MINFORM_OK);
  CHECK(rloo[0] == 0.0f && rloo[1] == -1.5f && rloo[2] == 0.0f && rloo[3] == 1.5f);

  const int32_t offsets[] = {0, 2};
  const double r[] = {1, 2}, v[] = {0.5, 0.25}, bootstrap[] = {3};
  double out[2], returns[2];
  CHECK(minform_gae(&host, MINFORM_FLOAT64, 0.9, 0.8, 1, 2, offsets, r, v, NULL, bootstrap, out, returns) ==
        MINFORM_OK);
  const double last = 2 + 0.9 * 3 - 0.25, first = 1 + 0.9 * 0.25 - 0.5 + 0.9 * 0.8 * last;
  CHECK(near(out[1], last) && near(out[0], first) && near(returns[0], first + 0.5));
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
                                          NULL, upstream, NULL, grad_hidden, grad_weight, grad_bias) == MINFORM_OK);
  CHECK(near(grad_bias[1], gradient[1] + gradient[4]));
  CHECK(near(grad_hidden[0], gradient[0] * weight[0] + gradient[1] * weight[2] + gradient[2] * weight[4]));
  CHECK(near(grad_weight[2], gradient[1] * hidden[0] + gradient[4] * hidden[2]));
}

static void loss_and_step(void) {
  const int32_t offsets[] = {0, 1, 2};
  const double now[] = {-1, -2}, old[] = {-1.1, -1}, advantages[] = {2, -1};
  double gradient[2], loss;
  CHECK(minform_ppo_loss(&host, MINFORM_FLOAT64, 0.8, 1.2, INFINITY, 20, NAN, 2, 2, offsets, now, old, advantages,
                         NULL, gradient, &loss) == MINFORM_OK);
  CHECK(near(loss, (-2 * exp(0.1) + 0.8) / 2) && near(gradient[0], -exp(0.1)) && gradient[1] == 0);

  double params[] = {1, 2}, first[] = {0, 0}, second[] = {0, 0};
  const double grads[] = {0.5, -4};
  CHECK(minform_adamw(&host, MINFORM_FLOAT64, 2, 1, 0.1, 0.9, 0.999, 1e-8, 0, 1, params, grads, first, second) ==
        MINFORM_OK);
  CHECK(fabs(params[0] - 0.9) < 1e-8 && fabs(params[1] - 2.1) < 1e-8);
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
  log_probs();
  loss_and_step();
  errors();
  return failures == 0 ? 0 : 1;
}
