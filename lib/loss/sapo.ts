import type { FloatArray, Values } from "../ragged.ts";
import { assertNumber } from "../validate.ts";
import {
  type LossOptions,
  type LossResult,
  type PolicyBatch,
  type PolicyStats,
  ratioLoss,
} from "./policy.ts";

/** Options of {@link sapoLoss}; the default aggregation is `"seq-mean-token-mean"`. */
export interface SapoLossOptions<T extends Values = FloatArray> extends LossOptions<T> {
  /** Temperature of the gate where A > 0, in (0, 80]. Default 1. */
  tauPositive?: number;
  /** Temperature of the gate where A <= 0, in (0, 80]. Default 1.05. */
  tauNegative?: number;
}

/**
 * SAPO: a soft gate in place of the clip. `loss = -A (4 / tau) sigmoid(tau (rho - 1))`, gradient with respect to a
 * log-prob `-4 A sigmoid' rho`, which is `-A` at rho = 1. Smooth but for the log-ratio clamp, beyond which the gradient
 * is 0.
 *
 * Source: arXiv 2511.20347.
 *
 * @throws as {@link ppoLoss}
 */
export function sapoLoss<T extends Values>(
  batch: PolicyBatch<T>,
  options: SapoLossOptions<T> = {},
): LossResult<T, PolicyStats> {
  const { tauPositive = 1, tauNegative = 1.05 } = options;
  assertNumber(tauPositive, "tauPositive", { low: 0, high: 80, open: true });
  assertNumber(tauNegative, "tauNegative", { low: 0, high: 80, open: true });
  return ratioLoss("sapo", batch, { tauPositive, tauNegative }, options, "seq-mean-token-mean");
}
