import type { ModelConfig } from "../../model/config.ts";
import type { ParameterArguments } from "./kernels.ts";

/** A tensor of a model under its name in the files. */
export interface Parameter {
  /** For example `model.layers.0.self_attn.q_proj.weight`. */
  readonly name: string;
  /** Sizes, outermost first. */
  readonly shape: readonly number[];
  /** The values; a view, so that writing here changes the model. */
  readonly data: Float32Array;
  /** d loss / d data, added to by every backward pass; `undefined` while the tensor is frozen. */
  readonly grad: Float32Array | undefined;
}

/** @internal A tensor as the native engine takes it: some parameters of the files, one after the other. */
export interface Slot {
  readonly parts: readonly { readonly name: string; readonly shape: readonly number[] }[];
}

const size = (shape: readonly number[]): number => shape.reduce((product, n) => product * n, 1);

/**
 * @internal The slots of a backbone in the order that bindings/model_args.h states; `null` for what the model does not
 * have. Queries, keys and values are one slot, gate and up another: one product instead of several.
 */
export function backboneSlots(config: ModelConfig): (Slot | null)[] {
  const { hiddenSize: hidden, intermediateSize: inner, headDim, vocabSize } = config;
  const [queries, keys] = [config.heads * headDim, config.kvHeads * headDim];
  const slot = (...parts: [string, ...number[]][]): Slot => ({
    parts: parts.map(([name, ...shape]) => ({ name: `model.${name}`, shape })),
  });
  const slots: (Slot | null)[] = [
    slot(["embed_tokens.weight", vocabSize, hidden]),
    slot(["norm.weight", hidden]),
  ];
  for (let layer = 0; layer < config.layers; layer++) {
    const [at, attention, mlp] = [`layers.${layer}`, `layers.${layer}.self_attn`, `layers.${layer}.mlp`];
    const outs = [["q_proj", queries] as const, ["k_proj", keys] as const, ["v_proj", keys] as const];
    slots.push(
      slot([`${at}.input_layernorm.weight`, hidden]),
      slot(...outs.map(([name, n]): [string, ...number[]] => [`${attention}.${name}.weight`, n, hidden])),
      config.qkvBias
        ? slot(...outs.map(([name, n]): [string, ...number[]] => [`${attention}.${name}.bias`, n]))
        : null,
      slot([`${attention}.o_proj.weight`, hidden, queries]),
      config.outputBias ? slot([`${attention}.o_proj.bias`, hidden]) : null,
      config.qkNorm ? slot([`${attention}.q_norm.weight`, headDim]) : null,
      config.qkNorm ? slot([`${attention}.k_norm.weight`, headDim]) : null,
      slot([`${at}.post_attention_layernorm.weight`, hidden]),
      slot([`${mlp}.gate_proj.weight`, inner, hidden], [`${mlp}.up_proj.weight`, inner, hidden]),
      config.mlpBias ? slot([`${mlp}.gate_proj.bias`, inner], [`${mlp}.up_proj.bias`, inner]) : null,
      slot([`${mlp}.down_proj.weight`, hidden, inner]),
      config.mlpBias ? slot([`${mlp}.down_proj.bias`, hidden]) : null,
    );
  }
  return slots;
}

/** @internal A parameter that can be frozen: its gradient comes and goes with the slot that it lies in. */
class SlotParameter implements Parameter {
  constructor(
    readonly name: string,
    readonly shape: readonly number[],
    readonly data: Float32Array,
    private readonly owner: Tensor,
    private readonly from: number,
  ) {}

  get grad(): Float32Array | undefined {
    return this.owner.grad?.subarray(this.from, this.from + this.data.length);
  }
}

/** @internal Memory of one slot. */
export class Tensor {
  readonly data: Float32Array;
  readonly parameters: readonly Parameter[];
  private gradient: Float32Array | undefined;

  constructor(slot: Slot) {
    this.data = new Float32Array(slot.parts.reduce((sum, part) => sum + size(part.shape), 0));
    let from = 0;
    this.parameters = slot.parts.map(({ name, shape }) => {
      const data = this.data.subarray(from, from + size(shape));
      const parameter = new SlotParameter(name, shape, data, this, from);
      from += data.length;
      return parameter;
    });
  }

  get grad(): Float32Array | undefined {
    return this.gradient;
  }

  get trainable(): boolean {
    return this.gradient !== undefined;
  }

  set trainable(wanted: boolean) {
    if (wanted) this.gradient ??= new Float32Array(this.data.length);
    else this.gradient = undefined;
  }
}

/** @internal A low-rank change of some outputs of a projection. */
export interface AdapterTensors {
  /** Layer, projection (0 qkv, 1 output, 2 gateUp, 3 down), first output, outputs, rank. */
  readonly place: readonly [number, number, number, number, number];
  readonly scale: number;
  readonly down: Tensor;
  readonly up: Tensor;
}

/** @internal What native calls take. */
export function parameterArguments(
  tensors: readonly (Tensor | null)[],
  adapters: readonly AdapterTensors[],
): ParameterArguments {
  const wanted = tensors.some((tensor) => tensor?.trainable);
  return [
    tensors.map((tensor) => tensor?.data ?? null),
    wanted ? tensors.map((tensor) => tensor?.grad ?? null) : null,
    Int32Array.from(adapters.flatMap(({ place }) => place)),
    Float64Array.from(adapters, ({ scale }) => scale),
    adapters.flatMap(({ down, up }) => [down.data, up.data, down.grad ?? null, up.grad ?? null]),
  ];
}
