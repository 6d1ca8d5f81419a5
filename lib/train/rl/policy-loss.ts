import {
  cispoLoss,
  gmpoLoss,
  gspoLoss,
  type LossResult,
  type PolicyBatch,
  type PolicyStats,
  ppoLoss,
  reinforceLoss,
  sapoLoss,
} from "../../loss/index.ts";
import type { TrainConfig } from "../config/schema.ts";
import type { Denominator } from "./mini-batches.ts";

/** @internal Value, gradient and statistics of the policy loss that the config names. */
export function policyLoss(
  actor: TrainConfig["actor"],
  batch: PolicyBatch<Float32Array>,
  sum: Denominator,
): LossResult<Float32Array, Partial<PolicyStats>> {
  const { clipRatio, clipRatioLow = clipRatio, clipRatioHigh = clipRatio, dualClip } = actor;
  const clipped = { ...sum, clipRatioLow, clipRatioHigh };
  switch (actor.loss) {
    case "ppo":
      return ppoLoss(batch, { ...clipped, ...(dualClip === undefined ? {} : { dualClip }) });
    case "gspo":
      return gspoLoss(batch, clipped);
    case "gmpo":
      return gmpoLoss(batch, clipped);
    case "cispo":
      return cispoLoss(batch, clipped);
    case "sapo":
      return sapoLoss(batch, sum);
    case "reinforce":
      return reinforceLoss(batch, sum);
  }
}
