import { ArgumentError, ModelError, NumericError } from "../../errors.ts";
import { runJob } from "../../job.ts";
import { addon } from "../../load.ts";
import { assertNumber, assertVector } from "../../validate.ts";
import type { Readout } from "./heads.ts";
import type { NativeEngine, ParameterArguments } from "./kernels.ts";
import type { Tensor } from "./parameters.ts";

/** @internal What a pass needs of its model. */
export interface PassOwner {
  readonly native: NativeEngine;
  readonly vocabulary: number;
  /** The weight of the LM head. */
  head(): Tensor;
  readout(kind: "classifier" | "value"): Readout;
  parameters(): ParameterArguments;
  /** Whether anything of the backbone is trained. */
  readonly backboneTrainable: boolean;
  isCurrent(pass: Pass): boolean;
  end(pass: Pass): void;
}

/** Options of {@link Pass.logProbs}. */
export interface PassLogProbOptions {
  /** Divides the logits; > 0. Default 1. */
  readonly temperature?: number;
  /** Also return the entropy of every distribution. */
  readonly entropy?: boolean;
  /** Also return the sum of the squared probabilities of every distribution. */
  readonly sumSquaredProbs?: boolean;
  /** Aborts the work. */
  readonly signal?: AbortSignal;
}

/** Log-probs of a pass, and what their gradients need. */
export interface PassLogProbs {
  /** Token indices that were read. */
  readonly reads: Int32Array;
  /** The tokens asked for, one per read. */
  readonly targets: Int32Array;
  /** The temperature. */
  readonly temperature: number;
  /** log p(target), one per read. */
  readonly logProbs: Float32Array;
  /** Entropies in nats, when asked for. */
  readonly entropy?: Float32Array;
  /** `sum_v p(v)^2`, when asked for. */
  readonly sumSquaredProbs?: Float32Array;
  /** Of the logits over the temperature. */
  readonly logSumExp: Float64Array;
}

/** Options of a backward pass. */
export interface BackwardInput {
  /** A result of {@link Pass.logProbs} with d loss / d log-prob and, where it has entropies, d loss / d entropy. */
  readonly logProbs?: readonly {
    /** The log-probs that the loss read. */
    readonly of: PassLogProbs;
    /** d loss / d log-prob, one per read. */
    readonly gradLogProbs: Float32Array;
    /** d loss / d entropy, one per read. */
    readonly gradEntropy?: Float32Array;
  }[];
  /** d loss / d output of small heads: reads and `[reads, outputs]`. */
  readonly readouts?: readonly {
    /** Whose outputs the loss read. */
    readonly head: "classifier" | "value";
    /** Token indices that were read. */
    readonly reads: Int32Array;
    /** d loss / d output, `[reads, outputs]`. */
    readonly grad: Float32Array;
  }[];
  /** Aborts the work; gradients are then incomplete and must be cleared. */
  readonly signal?: AbortSignal;
}

/**
 * A batch after its forward pass: the hidden states of every token, which heads read and gradients flow back through. A
 * model holds one pass at a time: the next forward, a generation or `backward` ends it.
 */
export class Pass {
  private isGoingBack = false;

  /** @internal */
  constructor(
    private readonly owner: PassOwner,
    /** Tokens of the batch. */
    readonly tokens: number,
    private readonly kept: boolean,
  ) {}

  /**
   * log softmax(z / temperature)[target] for the hidden states of some tokens; no logits are ever stored. To score
   * token i of a row, read token i - 1.
   *
   * @param reads - token indices into the batch's flat data
   * @param targets - one token id per read
   * @throws {@link ArgumentError}; {@link NumericError} `ERR_NOT_FINITE` when a row of logits holds NaN or infinity;
   * {@link ModelError} `ERR_CLOSED` when the pass has ended
   */
  async logProbs(
    reads: Int32Array,
    targets: Int32Array,
    options: PassLogProbOptions = {},
  ): Promise<PassLogProbs> {
    const { temperature = 1, entropy = false, sumSquaredProbs = false, signal } = options;
    this.check(reads);
    checkIndices(targets, "targets", this.owner.vocabulary);
    assertVector(targets, "targets", reads.length, ["Int32Array"]);
    assertNumber(temperature, "temperature", { low: 1e-6, high: 1e6 });
    const result = {
      reads,
      targets,
      temperature,
      logProbs: new Float32Array(reads.length),
      ...(entropy ? { entropy: new Float32Array(reads.length) } : {}),
      ...(sumSquaredProbs ? { sumSquaredProbs: new Float32Array(reads.length) } : {}),
      logSumExp: new Float64Array(reads.length),
    };
    const status = await runJob(signal, () =>
      addon().model.logProbs(
        this.owner.native,
        this.owner.head().data,
        reads,
        targets,
        temperature,
        result.logProbs,
        result.entropy ?? null,
        result.sumSquaredProbs ?? null,
        result.logSumExp,
      ),
    );
    if (status >= 0) {
      throw new NumericError(
        "ERR_NOT_FINITE",
        `logProbs: expected finite logits, got NaN or infinity at token ${reads[status]}`,
      );
    }
    return result;
  }

  /**
   * Outputs of the classifier or value head for some tokens.
   *
   * @returns `[reads, outputs]`
   * @throws as {@link Pass.logProbs}, `ERR_NOT_FINITE` for an output
   */
  async readout(
    head: "classifier" | "value",
    reads: Int32Array,
    options: { signal?: AbortSignal } = {},
  ): Promise<Float32Array> {
    this.check(reads);
    const readout = this.owner.readout(head);
    const out = new Float32Array(reads.length * readout.outputs);
    await runJob(options.signal, () =>
      addon().model.readout(this.owner.native, ...readout.arguments(), reads, out),
    );
    const bad = out.findIndex((value) => !Number.isFinite(value));
    if (bad < 0) return out;
    throw new NumericError(
      "ERR_NOT_FINITE",
      `readout: expected finite outputs, got ${out[bad]} at token ${reads[Math.floor(bad / readout.outputs)]}`,
    );
  }

  /**
   * Adds the gradients of a loss to those of every trainable parameter, and ends the pass. Losses state their own
   * denominators, so that batches may be split in any way.
   *
   * @param input - what the loss says about the outputs of this pass
   * @throws {@link ArgumentError}; {@link NumericError} `ERR_NOT_FINITE` for an upstream gradient that is NaN or
   * infinite, before anything is changed; {@link ModelError} `ERR_CLOSED`, also when another forward, generation or
   * change of what trains comes in between: gradients are then incomplete and must be cleared
   */
  async backward(input: BackwardInput): Promise<void> {
    if (!this.kept) {
      throw new ArgumentError(
        "ERR_ARGUMENT_VALUE",
        'backward: expected a forward pass with keep "activations" or "inputs", got "nothing"',
      );
    }
    const { logProbs = [], readouts = [], signal } = input;
    for (const [i, { of, gradLogProbs, gradEntropy }] of logProbs.entries()) {
      this.check(of.reads);
      checkGradient(gradLogProbs, `logProbs[${i}].gradLogProbs`, of.reads.length);
      if (gradEntropy === undefined) continue;
      checkGradient(gradEntropy, `logProbs[${i}].gradEntropy`, of.reads.length);
      if (of.entropy === undefined) {
        throw new ArgumentError(
          "ERR_ARGUMENT_VALUE",
          `logProbs[${i}].of: expected entropies beside gradEntropy, got none`,
        );
      }
    }
    for (const [i, { head, reads, grad }] of readouts.entries()) {
      this.check(reads);
      checkGradient(grad, `readouts[${i}].grad`, reads.length * this.owner.readout(head).outputs);
    }
    this.isGoingBack = true;
    for (const one of logProbs) await this.logProbsBackward(one, signal);
    for (const { head, reads, grad } of readouts) {
      this.checkCurrent();
      await runJob(signal, () =>
        addon().model.readoutBackward(
          this.owner.native,
          ...this.owner.readout(head).arguments(),
          reads,
          grad,
        ),
      );
    }
    this.checkCurrent();
    if (this.owner.backboneTrainable) {
      await runJob(signal, () => addon().model.backward(this.owner.native, ...this.owner.parameters()));
    }
    this.owner.end(this);
  }

  private async logProbsBackward(
    { of, gradLogProbs, gradEntropy }: NonNullable<BackwardInput["logProbs"]>[number],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    this.checkCurrent();
    const head = this.owner.head();
    const status = await runJob(signal, () =>
      addon().model.logProbsBackward(
        this.owner.native,
        head.data,
        of.reads,
        of.targets,
        of.temperature,
        of.logSumExp,
        of.entropy ?? null,
        gradLogProbs,
        gradEntropy ?? null,
        head.grad ?? null,
      ),
    );
    if (status >= 0) {
      throw new NumericError(
        "ERR_NOT_FINITE",
        `logProbs.of: expected results of this pass with unchanged parameters, got others at token ${of.reads[status]}`,
      );
    }
  }

  private check(reads: Int32Array): void {
    if (this.isGoingBack) throw new ModelError("ERR_CLOSED", "the pass has ended: backward was called");
    this.checkCurrent();
    checkIndices(reads, "reads", this.tokens);
    if (reads.length === 0) throw new ArgumentError("ERR_SHAPE", "reads: expected at least one, got 0");
  }

  private checkCurrent(): void {
    if (this.owner.isCurrent(this)) return;
    throw new ModelError(
      "ERR_CLOSED",
      "the pass has ended: a later forward, generate or backward took its place",
    );
  }
}

/** @internal Asserts indices in [0, end). */
export function checkIndices(values: Int32Array, name: string, end: number): void {
  assertVector(values, name, values?.length ?? 0, ["Int32Array"]);
  for (let i = 0; i < values.length; i++) {
    if (values[i]! < 0 || values[i]! >= end) {
      throw new ArgumentError("ERR_ARGUMENT_VALUE", `${name}[${i}]: expected [0, ${end}), got ${values[i]}`);
    }
  }
}

function checkGradient(values: Float32Array, name: string, length: number): void {
  assertVector(values, name, length, ["Float32Array"]);
  const bad = values.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) {
    throw new NumericError(
      "ERR_NOT_FINITE",
      `${name}: expected a finite number at ${bad}, got ${values[bad]}`,
    );
  }
}
