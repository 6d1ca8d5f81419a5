import type { ModelConfig } from "../../model/config.ts";
import { assertCount } from "../../validate.ts";
import type { ReadoutArguments } from "./kernels.ts";
import { type Slot, Tensor } from "./parameters.ts";

/** What stands on the backbone. Any combination; at least one. */
export interface EngineHeads {
  /** Next-token log-probs: `lm_head`, or the embedding when the config ties them. */
  readonly lm?: boolean;
  /** Logits per token: `score`, one linear layer, or with `width` two with a ReLU between (`score.0`, `score.2`). */
  readonly classifier?: {
    /** Number of logits. */
    readonly classes: number;
    /** Width between two layers; absent for one layer. */
    readonly width?: number;
  };
  /** One number per token: `v_head.summary`. */
  readonly value?: boolean;
}

/** @internal One linear layer of a small head. */
interface Layer {
  readonly weight: Tensor;
  readonly bias: Tensor;
  readonly outputs: number;
}

/** @internal A small head: one layer or two. */
export class Readout {
  private constructor(
    private readonly first: Layer,
    private readonly second: Layer | undefined,
  ) {}

  static classifier(
    config: ModelConfig,
    { classes, width }: NonNullable<EngineHeads["classifier"]>,
  ): Readout {
    assertCount(classes, "heads.classifier.classes", 1);
    if (width === undefined) return new Readout(linear("score", classes, config.hiddenSize), undefined);
    assertCount(width, "heads.classifier.width", 1);
    return new Readout(linear("score.0", width, config.hiddenSize), linear("score.2", classes, width));
  }

  static value(config: ModelConfig): Readout {
    return new Readout(linear("v_head.summary", 1, config.hiddenSize), undefined);
  }

  get outputs(): number {
    return (this.second ?? this.first).outputs;
  }

  get tensors(): Tensor[] {
    return [this.first, ...(this.second ? [this.second] : [])].flatMap(({ weight, bias }) => [weight, bias]);
  }

  arguments(): ReadoutArguments {
    const { first, second } = this;
    return [
      first.weight.data,
      first.bias.data,
      second?.weight.data ?? null,
      second?.bias.data ?? null,
      first.weight.grad ?? null,
      first.bias.grad ?? null,
      second?.weight.grad ?? null,
      second?.bias.grad ?? null,
      first.outputs,
      this.outputs,
    ];
  }
}

function linear(name: string, outputs: number, inputs: number): Layer {
  const slot = (part: string, ...shape: number[]): Slot => ({ parts: [{ name: `${name}.${part}`, shape }] });
  return {
    weight: new Tensor(slot("weight", outputs, inputs)),
    bias: new Tensor(slot("bias", outputs)),
    outputs,
  };
}

/** @internal The tensor of an LM head of its own; `undefined` when the embedding is the head. */
export function lmHead(config: ModelConfig): Tensor | undefined {
  if (config.tied === true) return undefined;
  const shape = [config.vocabSize, config.hiddenSize];
  return new Tensor({ parts: [{ name: "lm_head.weight", shape }] });
}
