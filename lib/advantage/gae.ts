import { launch } from "../cuda/launch.ts";
import { DeviceTensor } from "../cuda/tensor.ts";
import { NumericError } from "../errors.ts";
import { addon } from "../load.ts";
import type { Mask, Ragged, Values } from "../ragged.ts";
import { assertStatus } from "../kernel-status.ts";
import {
  allocate,
  assertLike,
  assertRaggedValues,
  assertVectorLike,
  checkMask,
  outputLike,
} from "../placed-values.ts";
import { assertNumber } from "../validate.ts";
import type { TokenEstimate } from "./groups.ts";

/** Options of {@link gae}. */
export interface GaeOptions<T extends Values> {
  /** Discount per counted token, in [0, 1]. Default 1. */
  gamma?: number;
  /** Bias against variance of the advantages, in [0, 1]. Default 1. */
  lambda?: number;
  /** The same for the returns that the value function learns (VAPO decouples them). Default `lambda`. */
  valueLambda?: number;
  /** One per token: the recursion passes over masked-out tokens, which get +0. */
  mask?: Mask;
  /** Value after the last token, one per response: of the cut state for a truncated one, 0 for one that ended. Default 0. */
  bootstrapValues?: T;
  /** Reused for the advantages. */
  out?: T;
}

/**
 * Generalised advantage estimation over the counted tokens of each response, from the last one back:
 * `delta_t = R_t + gamma V_next - V_t`, `A_t = delta_t + gamma lambda A_next`, `returns_t = A_t + V_t` (with
 * `valueLambda` in the place of lambda). A tool span inside a response neither discounts nor stands for a state.
 * The advantages are not whitened; see {@link whiten}.
 *
 * Sources: arXiv 1506.02438; separate lambda: VAPO, arXiv 2504.05118.
 *
 * @param rewards - finite token rewards
 * @param values - finite values of the states before each token, in the rows of `rewards`
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE`; {@link NumericError}
 * `ERR_NOT_FINITE` naming argument, row and position
 */
export function gae<T extends Values>(
  rewards: Ragged<T>,
  values: Ragged<T>,
  options: GaeOptions<T> = {},
): TokenEstimate<T> {
  const { gamma = 1, lambda = 1, valueLambda = lambda, mask, bootstrapValues, out } = options;
  assertRaggedValues(rewards, "rewards");
  assertLike(values, "values", rewards, "rewards");
  assertNumber(gamma, "gamma", { low: 0, high: 1 });
  assertNumber(lambda, "lambda", { low: 0, high: 1 });
  assertNumber(valueLambda, "valueLambda", { low: 0, high: 1 });
  const { data, offsets } = rewards;
  if (bootstrapValues !== undefined)
    assertFiniteVector(bootstrapValues, "bootstrapValues", offsets.length - 1, data, "rewards.data");
  const advantages = outputLike(out, data, data.length, "out", "rewards.data");
  const returns = allocate(data, data.length);
  const status = launch(
    "gae",
    addon().advantage.gae,
    data,
    values.data,
    offsets,
    checkMask(mask, "mask", data.length, data),
    bootstrapValues ?? null,
    gamma,
    lambda,
    valueLambda,
    advantages,
    returns,
  );
  assertStatus(status, offsets, { rewards: data, values: values.data });
  return { advantages: { data: advantages, offsets }, returns: { data: returns, offsets } };
}

/**
 * @internal Asserts one finite value per response, in the dtype and the place of the token data. On the device the values
 * themselves are not looked at: a bad one shows in the tokens it reaches.
 */
export function assertFiniteVector<T extends Values>(
  values: T,
  name: string,
  rows: number,
  like: T,
  likeName: string,
): void {
  assertVectorLike(values, name, rows, like, likeName);
  if (values instanceof DeviceTensor) return;
  const bad = values.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) {
    throw new NumericError(
      "ERR_NOT_FINITE",
      `${name}: expected a finite number at row ${bad}, got ${values[bad]}`,
    );
  }
}
