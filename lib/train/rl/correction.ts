import { importanceWeights } from "../../loss/index.ts";
import type { Ragged } from "../../ragged.ts";
import type { TrainConfig } from "../config/schema.ts";

/** @internal Weights for rollouts that the policy of the update has not drawn itself, and `rollout_corr/...` metrics. */
export function correct(
  { kind, level, min, max, normalize }: TrainConfig["correction"],
  oldLogProbs: Ragged<Float32Array>,
  rolloutLogProbs: Ragged<Float32Array>,
  mask: Ragged<Uint8Array> | undefined,
): { readonly weights: Ragged<Float32Array>; readonly metrics: Record<string, number> } | undefined {
  if (kind === "none") return undefined;
  const { weights, stats } = importanceWeights(
    { oldLogProbs, rolloutLogProbs, ...(mask && { mask: mask.data }) },
    { correction: kind, level, min, max, normalize },
  );
  return {
    weights,
    metrics: {
      "rollout_corr/kl": stats.k1,
      "rollout_corr/k3_kl": stats.k3,
      "rollout_corr/chi2": stats.chi2,
      "rollout_corr/mean_weight": stats.meanWeight,
      "rollout_corr/outside": stats.outsideFraction,
      "rollout_corr/ess": stats.units === 0 ? 0 : stats.effectiveSampleSize / stats.units,
    },
  };
}
