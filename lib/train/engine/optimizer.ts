import { adamWInPlace, gradNorm } from "../../optim/index.ts";
import type { TrainableModel } from "./model.ts";

/** Options of one {@link Optimizer.step}. */
export interface StepOptions {
  /** Learning rate, >= 0. */
  readonly learningRate: number;
  /** Decay of the first moment, in [0, 1). Default 0.9. */
  readonly beta1?: number;
  /** Decay of the second moment, in [0, 1). Default 0.999. */
  readonly beta2?: number;
  /** Added to the root of the second moment. Default 1e-8. */
  readonly epsilon?: number;
  /** Decoupled weight decay, >= 0. Default 0. */
  readonly weightDecay?: number;
  /** Largest global gradient norm; larger gradients are scaled down. Default: none. */
  readonly maxNorm?: number;
}

/** Moments of one parameter. */
export interface Moments {
  /** Moving average of the gradient. */
  readonly first: Float32Array;
  /** Moving average of its square. */
  readonly second: Float32Array;
}

/** AdamW over the trainable parameters of a model, in place. */
export class Optimizer {
  /** Steps taken. */
  steps = 0;
  /** Moments by parameter name, made when a parameter is first updated. */
  readonly moments = new Map<string, Moments>();

  /** @param model - the model whose parameters are updated */
  constructor(private readonly model: TrainableModel) {}

  /**
   * One step of AdamW with the gradients gathered so far, which are then cleared. Clipping costs no pass of its own.
   *
   * @returns the global gradient norm before clipping
   * @throws {@link NumericError} `ERR_NOT_FINITE` for a gradient that is NaN or infinite: nothing has changed then
   */
  step(options: StepOptions): number {
    const { learningRate, maxNorm, weightDecay = 0, ...rest } = options;
    const parameters = this.model.trainable();
    const grads = parameters.map(({ grad }) => grad!);
    const norm = gradNorm(grads);
    const gradScale = maxNorm === undefined ? 1 : Math.min(1, maxNorm / (norm + 1e-6));
    const moments = parameters.map((parameter) => this.momentsOf(parameter.name, parameter.data.length));
    adamWInPlace(
      {
        params: parameters.map(({ data }) => data),
        grads,
        firstMoments: moments.map(({ first }) => first),
        secondMoments: moments.map(({ second }) => second),
      },
      { ...rest, learningRate, weightDecay, gradScale, step: this.steps + 1, checkGrads: false },
    );
    this.steps++;
    this.model.clearGradients();
    return norm;
  }

  private momentsOf(name: string, length: number): Moments {
    let found = this.moments.get(name);
    if (found === undefined) {
      found = { first: new Float32Array(length), second: new Float32Array(length) };
      this.moments.set(name, found);
    }
    return found;
  }
}
