import { launch } from "../cuda/launch.ts";
import { addon } from "../load.ts";
import { ArgumentError } from "../errors.ts";
import type { Owned, Ragged, Values } from "../ragged.ts";
import { assertStatus } from "../kernel-status.ts";
import { allocate, assertLike, assertRaggedValues, assertVectorLike, checkMask } from "../placed-values.ts";
import { assertNumber } from "../validate.ts";
import type { MinFormOptions } from "./assign.ts";

/** Upstream gradients with respect to the outputs of {@link minForm}; at least one, summed when several. */
export interface MinFormGradients<T extends Values> {
  /** d / d `credit.rewards`, per step. */
  rewards?: Ragged<T>;
  /** d / d `credit.returns`, per step. */
  returns?: Ragged<T>;
  /** d / d `credit.outcomes`, per response. */
  outcomes?: T;
}

/**
 * Gradient of {@link minForm} with respect to the step rewards. For the outcome alone:
 * `dS / dr_j = w_j (1 - (r_j - S) / T)`.
 *
 * @param stepRewards - the input of the forward pass
 * @param gradients - upstream gradients
 * @param options - the options of the forward pass
 * @returns per step; exactly +0 where the mask is 0
 * @throws as {@link minForm}
 */
export function minFormBackward<T extends Values>(
  stepRewards: Ragged<T>,
  gradients: MinFormGradients<T>,
  options: MinFormOptions = {},
): Ragged<Owned<T>> {
  const { temperature = 0.1, mask } = options;
  assertRaggedValues(stepRewards, "stepRewards");
  assertNumber(temperature, "temperature", { low: 0, open: true });
  const { data, offsets } = stepRewards;
  const { rewards, returns, outcomes } = gradients;
  if (rewards === undefined && returns === undefined && outcomes === undefined) {
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      "gradients: expected rewards, returns or outcomes, got none",
    );
  }
  if (rewards !== undefined) assertLike(rewards, "gradients.rewards", stepRewards, "stepRewards");
  if (returns !== undefined) assertLike(returns, "gradients.returns", stepRewards, "stepRewards");
  if (outcomes !== undefined)
    assertVectorLike(outcomes, "gradients.outcomes", offsets.length - 1, data, "stepRewards.data");
  const gradient = allocate(data, data.length);
  const status = launch(
    "minFormBackward",
    addon().credit.minFormBackward,
    data,
    offsets,
    checkMask(mask, "mask", data.length, data),
    temperature,
    rewards?.data ?? null,
    returns?.data ?? null,
    outcomes ?? null,
    gradient,
  );
  assertStatus(status, offsets, { stepRewards: data });
  return { data: gradient, offsets };
}
