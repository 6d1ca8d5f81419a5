import { assertNumber } from "../validate.ts";

/** A KL coefficient that stays what it is. */
export class FixedKlController {
  /** beta, the factor of the KL penalty. */
  readonly coefficient: number;

  /**
   * @param coefficient - beta >= 0
   * @throws {@link ArgumentError} `ERR_ARGUMENT_VALUE`
   */
  constructor(coefficient: number) {
    assertNumber(coefficient, "coefficient", { low: 0 });
    this.coefficient = coefficient;
  }

  /** Returns the coefficient, whatever the KL; the same call as {@link AdaptiveKlController.update}. */
  update(_kl?: number, _steps?: number): number {
    return this.coefficient;
  }
}

/** Options of {@link AdaptiveKlController}. */
export interface AdaptiveKlOptions {
  /** First coefficient, > 0. */
  initial: number;
  /** KL to steer to, > 0, in the units that `update` is told. */
  target: number;
  /** Steps over which a lasting error of 20% changes the coefficient by 20%; > 0, counted as `update` counts. */
  horizon: number;
}

/**
 * A KL coefficient that follows a target: `beta <- beta (1 + clip(kl / target - 1, -0.2, 0.2) steps / horizon)`.
 *
 * Source: Ziegler et al., arXiv 1909.08593, section 2.2.
 */
export class AdaptiveKlController {
  readonly #target: number;
  readonly #horizon: number;
  #coefficient: number;

  /** @throws {@link ArgumentError} `ERR_ARGUMENT_VALUE` */
  constructor({ initial, target, horizon }: AdaptiveKlOptions) {
    assertNumber(initial, "initial", { low: 0, open: true });
    assertNumber(target, "target", { low: 0, open: true });
    assertNumber(horizon, "horizon", { low: 0, open: true });
    this.#coefficient = initial;
    this.#target = target;
    this.#horizon = horizon;
  }

  /** beta, the factor of the KL penalty. */
  get coefficient(): number {
    return this.#coefficient;
  }

  /**
   * Moves the coefficient and returns it.
   *
   * @param kl - finite mean KL of the last batch
   * @param steps - what the batch counts as, in the units of `horizon`; in [0, 5 horizon], beyond which the
   * coefficient would change its sign
   * @throws {@link ArgumentError} `ERR_ARGUMENT_VALUE`
   */
  update(kl: number, steps: number): number {
    assertNumber(kl, "kl");
    assertNumber(steps, "steps", { low: 0, high: 5 * this.#horizon });
    const error = Math.min(0.2, Math.max(-0.2, kl / this.#target - 1));
    this.#coefficient *= 1 + (error * steps) / this.#horizon;
    return this.#coefficient;
  }
}
