import type { FloatArray, Values } from "../ragged.ts";
import {
  type LossOptions,
  type LossResult,
  type PolicyBatch,
  type PolicyStats,
  ratioLoss,
} from "./policy.ts";
import { type ClipOptions, epsilons } from "./ppo.ts";

/** Options of {@link gspoLoss}; the default aggregation is `"seq-mean-token-mean"`. */
export interface GspoLossOptions<T extends Values = FloatArray> extends LossOptions<T>, ClipOptions {}

/**
 * GSPO: PPO's clipped surrogate at the sequence ratio `s = exp(mean_t d_t)`, in token form
 * `s_t = sg[s] pi_t / sg[pi_t]`, so that advantages may differ by token:
 * `loss_t = max(-A_t s, -A_t clip(s, 1 - epsilon_low, 1 + epsilon_high))`, gradient `-A_t s` where the first term is
 * the loss, else 0. With one advantage per response and `"seq-mean-token-mean"` this is the sequence form, value and
 * gradient; other aggregations weight responses by length. The paper's epsilons are of the order of 3e-4; the default
 * here is {@link ClipOptions}' 0.2.
 *
 * At s = 1 +- epsilon the gradient flows. A token whose own log-ratio is clamped enters the mean clamped and has
 * gradient 0. The statistics of ratios are of token ratios; clip fractions are of the sequence ratio.
 *
 * Source: arXiv 2507.18071.
 *
 * @throws as {@link ppoLoss}
 */
export function gspoLoss<T extends Values>(
  batch: PolicyBatch<T>,
  options: GspoLossOptions<T> = {},
): LossResult<T, PolicyStats> {
  const { below, above } = epsilons(options);
  return ratioLoss("gspo", batch, { low: 1 - below, high: 1 + above }, options, "seq-mean-token-mean");
}

/** Options of {@link gmpoLoss}: epsilons of the *log*-ratio; the default aggregation is `"seq-mean-token-mean"`. */
export interface GmpoLossOptions<T extends Values = FloatArray> extends LossOptions<T>, ClipOptions {}

/**
 * GMPO: the geometric mean of the ratios, clipped in log space on the side that PPO clips. Per response
 * `loss = -mean_t(A_t) exp(mean_t c_t)`, with `c_t = min(d_t, epsilon_high)` where A_t > 0, `max(d_t, -epsilon_low)`
 * where A_t < 0, and 0 where A_t = 0. Every token carries its response's loss, so `"seq-mean-token-mean"` gives the mean
 * over responses. The importance weights of a response enter as their mean.
 *
 * Gradient with respect to the log-prob of a token, before aggregation: the response's loss where `c_t = d_t` (at an
 * exact tie it flows) and A_t is not 0, else 0. A clamped token has gradient 0. `clipFraction` counts tokens with
 * `c_t` other than `d_t`.
 *
 * Source: arXiv 2507.20673.
 *
 * @throws as {@link ppoLoss}
 */
export function gmpoLoss<T extends Values>(
  batch: PolicyBatch<T>,
  options: GmpoLossOptions<T> = {},
): LossResult<T, PolicyStats> {
  const { below, above } = epsilons(options, Infinity);
  return ratioLoss("gmpo", batch, { low: -below, high: above }, options, "seq-mean-token-mean");
}
