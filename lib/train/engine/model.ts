import { ArgumentError } from "../../errors.ts";
import { runJob } from "../../job.ts";
import { addon } from "../../load.ts";
import type { ModelConfig } from "../../model/config.ts";
import { ropeFrequencies } from "../../model/frequencies.ts";
import type { RaggedInts } from "../../model/types.ts";
import { MAX_VOCABULARY } from "../../sampling/rule.ts";
import { assertOneOf, assertRagged } from "../../validate.ts";
import { checkGenerate, generate, type Generated, type GenerateOptions } from "./generate.ts";
import { type EngineHeads, lmHead, Readout } from "./heads.ts";
import type { NativeEngine } from "./kernels.ts";
import { createAdapters, type LoraOptions, mergeInto } from "./lora.ts";
import {
  type AdapterTensors,
  backboneSlots,
  type Parameter,
  parameterArguments,
  Tensor,
} from "./parameters.ts";
import { checkIndices, Pass, type PassOwner } from "./pass.ts";

/** What a forward pass keeps for the backward pass; see {@link ForwardOptions.keep}. */
export const KEEP = ["nothing", "inputs", "activations"] as const;

/** Options of {@link TrainableModel.forward}. */
export interface ForwardOptions {
  /**
   * `"activations"` (default): what the backward pass reads; `"inputs"`: only the input of every layer, the rest is
   * computed again, the same gradients to the bit with a fraction of the memory; `"nothing"`: there is no backward pass.
   */
  readonly keep?: (typeof KEEP)[number];
  /** Aborts the work. */
  readonly signal?: AbortSignal;
}

/** What trains: everything, the heads, or low-rank adapters and the heads. */
export type Training =
  | "all"
  | "heads"
  | {
      /** Shape of the adapters. */
      readonly lora: LoraOptions;
    };

/**
 * A decoder of the Llama, Mistral, Qwen2 or Qwen3 family with heads, in float32, that can be trained. Batches are ragged:
 * there is no padding. Made by {@link createModel} and {@link loadModel}.
 *
 * Numerics: products accumulate in float32 in a fixed order, norms and softmax denominators in float64. The outputs of a
 * row depend neither on the other rows nor on the number of threads, and gradients not on the number of threads: same
 * bits. Instruction sets differ in rounding.
 */
export class TrainableModel {
  /** The model's config. */
  readonly config: ModelConfig;
  /** Its heads. */
  readonly heads: EngineHeads;

  private readonly native: NativeEngine;
  private readonly backbone: (Tensor | null)[];
  private readonly lm: Tensor | undefined;
  private readonly readouts = new Map<"classifier" | "value", Readout>();
  private adapters: AdapterTensors[] = [];
  private current: Pass | undefined;

  /** @internal With zeros everywhere; see createModel and loadModel. */
  constructor(config: ModelConfig, heads: EngineHeads) {
    if (heads.lm !== true && heads.classifier === undefined && heads.value !== true) {
      throw new ArgumentError(
        "ERR_ARGUMENT_VALUE",
        "heads: expected at least one of lm, classifier, value, got none",
      );
    }
    this.config = config;
    this.heads = heads;
    this.native = createNative(config);
    this.backbone = backboneSlots(config).map((slot) => slot && new Tensor(slot));
    this.lm = heads.lm === true ? lmHead(config) : undefined;
    if (heads.classifier !== undefined)
      this.readouts.set("classifier", Readout.classifier(config, heads.classifier));
    if (heads.value === true) this.readouts.set("value", Readout.value(config));
    this.train("all");
  }

  /** Every parameter of the files by name; adapters are not among them. */
  get parameters(): ReadonlyMap<string, Parameter> {
    return new Map(
      this.stored().flatMap((tensor) => tensor.parameters.map((one) => [one.name, one] as const)),
    );
  }

  /** The parameters that train, adapters included, in a fixed order. */
  trainable(): Parameter[] {
    return this.all()
      .filter((tensor) => tensor.trainable)
      .flatMap((tensor) => tensor.parameters);
  }

  /** Parameters of the files in all. */
  get size(): number {
    return this.stored().reduce((sum, { data }) => sum + data.length, 0);
  }

  /** Bytes of activations held, most of them for reuse by the next pass. */
  get activationBytes(): number {
    return addon().model.bytes(this.native);
  }

  /**
   * Chooses what trains. Frozen parameters have no gradient; a frozen backbone costs no backward pass. Gradients gathered
   * so far are cleared. Adapters are made once: choosing LoRA again replaces them, choosing anything else keeps them in
   * force as they are.
   *
   * @throws {@link ArgumentError} for LoRA options out of range
   */
  train(training: Training): void {
    this.current = undefined;
    if (typeof training === "object") this.adapters = createAdapters(this.config, training.lora);
    for (const tensor of this.stored()) tensor.trainable = training === "all";
    for (const { down, up } of this.adapters) down.trainable = up.trainable = typeof training === "object";
    for (const tensor of this.headTensors()) tensor.trainable = true;
    if (typeof training === "object" && this.lm !== undefined) this.lm.trainable = false;
    this.clearGradients();
  }

  /** Sets every gradient to 0. */
  clearGradients(): void {
    for (const tensor of this.all()) tensor.grad?.fill(0);
  }

  /** Adds the adapters' change to the weights and drops them. */
  mergeAdapters(): void {
    for (const adapter of this.adapters) {
      const [layer, projection, firstOutput] = adapter.place;
      const weight = this.backbone[2 + 12 * layer + [1, 3, 8, 10][projection]!]!.data;
      const inputs = adapter.down.data.length / adapter.place[4];
      mergeInto(weight.subarray(firstOutput * inputs), adapter);
    }
    this.adapters = [];
    this.current = undefined;
  }

  /**
   * Runs a batch through the backbone; the heads read from the pass.
   *
   * @param batch - token ids, row by row
   * @throws {@link ArgumentError} for ids outside the vocabulary, rows longer than the model's context, no tokens
   */
  async forward(batch: RaggedInts, options: ForwardOptions = {}): Promise<Pass> {
    const { keep = "activations", signal } = options;
    assertOneOf(keep, "keep", KEEP);
    this.checkRows(batch, "batch", 0);
    const pass = new Pass(this.owner(), batch.data.length, keep !== "nothing");
    // From the call on: what is called next runs next, and a pass that it ends must not come back when this one is done.
    this.current = pass;
    await runJob(signal, () =>
      addon().model.forward(
        this.native,
        ...parameterArguments(this.backbone, this.adapters),
        batch.data,
        batch.offsets,
        KEEP.indexOf(keep),
      ),
    );
    return pass;
  }

  /**
   * Continues prompts. A sequence depends on the weights, the seed, the tokens of its prompt and its sample number only:
   * not on the other prompts, the batch or the threads.
   *
   * @param prompts - token ids, none empty
   * @throws {@link ArgumentError}; {@link NumericError} `ERR_NOT_FINITE`
   */
  async generate(prompts: RaggedInts, options: GenerateOptions): Promise<Generated> {
    const checked = checkGenerate(options, this.config.vocabSize);
    this.checkRows(prompts, "prompts", checked.maxTokens);
    for (let row = 1; row < prompts.offsets.length; row++) {
      if (prompts.offsets[row] === prompts.offsets[row - 1]) {
        throw new ArgumentError(
          "ERR_SHAPE",
          `prompts: expected at least one token in row ${row - 1}, got none`,
        );
      }
    }
    this.current = undefined;
    const parameters = parameterArguments(this.backbone, this.adapters);
    return generate(this.native, parameters, this.lmHead().data, prompts, checked);
  }

  private checkRows(batch: RaggedInts, name: string, more: number): void {
    assertRagged(batch as never, name, ["Int32Array"]);
    if (batch.data.length === 0)
      throw new ArgumentError("ERR_SHAPE", `${name}: expected at least one token, got 0`);
    checkIndices(batch.data, `${name}.data`, this.config.vocabSize);
    const limit = longestRow(this.config);
    for (let row = 1; row < batch.offsets.length; row++) {
      const length = batch.offsets[row]! - batch.offsets[row - 1]! + more;
      if (length > limit) {
        throw new ArgumentError(
          "ERR_SHAPE",
          `${name}: expected at most ${limit} tokens in row ${row - 1}${more ? " with those to write" : ""}, got ${length}`,
        );
      }
    }
  }

  private owner(): PassOwner {
    const backboneTrainable = () =>
      this.backbone.some((tensor) => tensor?.trainable) || this.adapters.some(({ up }) => up.trainable);
    return {
      native: this.native,
      vocabulary: this.config.vocabSize,
      head: () => this.lmHead(),
      readout: (kind) => this.readout(kind),
      parameters: () => parameterArguments(this.backbone, this.adapters),
      get backboneTrainable() {
        return backboneTrainable();
      },
      isCurrent: (pass) => this.current === pass,
      end: () => {
        this.current = undefined;
      },
    };
  }

  private lmHead(): Tensor {
    if (this.heads.lm !== true)
      throw new ArgumentError("ERR_ARGUMENT_VALUE", "heads.lm: expected true, got false");
    return this.lm ?? this.backbone[0]!;
  }

  private readout(kind: "classifier" | "value"): Readout {
    const found = this.readouts.get(kind);
    if (found !== undefined) return found;
    throw new ArgumentError("ERR_ARGUMENT_VALUE", `heads.${kind}: expected such a head, the model has none`);
  }

  private headTensors(): Tensor[] {
    const small = [...this.readouts.values()].flatMap((readout) => readout.tensors);
    return this.lm === undefined ? small : [this.lm, ...small];
  }

  private stored(): Tensor[] {
    return [...this.backbone.filter((tensor) => tensor !== null), ...this.headTensors()];
  }

  private all(): Tensor[] {
    return [...this.stored(), ...this.adapters.flatMap(({ down, up }) => [down, up])];
  }
}

// Two scalings change the frequencies with the length of a row. A token's rotation would then depend on what is written
// after it; here it never does, so rows end where the frequencies of short rows do.
/** @internal Tokens of a row at most. */
export function longestRow({ rope, maxLength }: ModelConfig): number {
  const { scaling } = rope;
  if (scaling.type === "dynamic") return scaling.positions;
  if (scaling.type === "longrope") return scaling.original;
  return maxLength;
}

function createNative(config: ModelConfig): NativeEngine {
  if (config.headDim > 256) {
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      `config.headDim: expected at most 256, got ${config.headDim}`,
    );
  }
  if (config.vocabSize > MAX_VOCABULARY) {
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      `config.vocabSize: expected at most ${MAX_VOCABULARY}, got ${config.vocabSize}`,
    );
  }
  const { frequencies, magnitude } = ropeFrequencies(config.rope, 1);
  return addon().model.create(
    config.vocabSize,
    config.hiddenSize,
    config.intermediateSize,
    config.heads,
    config.kvHeads,
    config.headDim,
    config.rmsEpsilon,
    config.qkNorm,
    Int32Array.from(config.windows, (window) => window ?? 0),
    frequencies,
    magnitude,
  );
}
