import { BLOCK } from "../quant/rows.ts";
import { lowerAttention, tileInputs } from "./attention.ts";
import type { Decoder, Linear } from "./decoder.ts";
import type { HeadDescription } from "./heads.ts";
import { GraphBuilder, MICROSOFT, type Value } from "./onnx/graph.ts";
import type { QuantizedWeight } from "./quantized-cache.ts";
import type { TensorEntry, WeightType } from "./safetensors.ts";

/** @internal What a graph is lowered with. */
export interface LoweringOptions {
  /** Name of a weight file relative to the folder that the runtime is told. */
  fileName(path: string): string;
  /** The rows of a `rows` head, `[rows, hidden]` in float32. */
  headRows?: Float32Array | undefined;
  /** Weights of which a quantised form is to be used. */
  quantized?: ReadonlyMap<TensorEntry, QuantizedWeight> | undefined;
}

type Floats = Value<"float32">;

/** @internal Rows of the LM head that are handled at once, so that no logits of a whole vocabulary exist. */
const SLAB = 8192;

/**
 * @internal Lowers a decoder and a head to an inference graph over the tokens of a batch, one after the other without
 * padding. Weights stay where they are stored; the float32 copy of a stored bfloat16 or float16 weight is one node.
 *
 * Inputs: `ids` [tokens], `cos` and `sin` [tokens, headDim / 2], `reads` [reads] (token indices), `readRows` [reads]
 * and the inputs of {@link tileInputs}; `targets` [reads] for the `lm` head. Output: `values` [reads, outputs].
 */
export function lowerDecoder(decoder: Decoder, head: HeadDescription, options: LoweringOptions): Uint8Array {
  const { config } = decoder;
  const graph = new GraphBuilder();
  const lowering = new Lowering(graph, options);
  const ids = graph.input("ids", "int32", ["tokens"]);
  const half = config.headDim / 2;
  const rotation = {
    cos: graph.input("cos", "float32", ["tokens", half]),
    sin: graph.input("sin", "float32", ["tokens", half]),
  };
  const reads = graph.input("reads", "int32", ["reads"]);
  const tiles = tileInputs(graph, decoder.layers);
  const norm = { epsilon: { float: config.rmsEpsilon }, axis: -1 };
  const skipNorm = (x: Floats, skip: Floats, gamma: TensorEntry) => {
    const [normed, , , sum] = graph.multi(
      "SkipSimplifiedLayerNormalization",
      ["float32", undefined, undefined, "float32"],
      [x, skip, lowering.dense(gamma)],
      { epsilon: norm.epsilon },
      MICROSOFT,
    );
    return { normed, sum };
  };
  let residual = lowering.embed(decoder.embedding, ids);
  let normed: Floats = graph.op(
    "SimplifiedLayerNormalization",
    "float32",
    [residual, lowering.dense(decoder.layers[0]!.attentionNorm)],
    norm,
  );
  for (const [index, layer] of decoder.layers.entries()) {
    const last = index === decoder.layers.length - 1;
    const projected = {
      q: lowering.linear(normed, layer.q),
      k: lowering.linear(normed, layer.k),
      v: lowering.linear(normed, layer.v),
    };
    const qkNorm =
      layer.qNorm && layer.kNorm
        ? { q: lowering.dense(layer.qNorm), k: lowering.dense(layer.kNorm), attributes: norm }
        : undefined;
    // Nothing after the last attention mixes tokens: only those that are read go on.
    const rows = last ? tiles.readRows : tiles.tokenRows;
    if (last) residual = graph.op("Gather", "float32", [residual, reads]);
    const attended = lowerAttention(graph, {
      ...projected,
      config,
      rotation,
      qkNorm,
      rows,
      tiles: tiles.of(layer.window),
    });
    const middle = skipNorm(lowering.linear(attended, layer.o), residual, layer.mlpNorm);
    const gate = lowering.linear(middle.normed, layer.gate);
    const up = lowering.linear(middle.normed, layer.up);
    // QuickGelu with alpha 1 is x sigmoid(x), in one pass.
    const silu = graph.op("QuickGelu", "float32", [gate], { alpha: { float: 1 } }, MICROSOFT);
    const down = lowering.linear(graph.op("Mul", "float32", [silu, up]), layer.down);
    const next = skipNorm(down, middle.sum, last ? decoder.norm : decoder.layers[index + 1]!.attentionNorm);
    residual = next.sum;
    normed = next.normed;
  }
  graph.output(lowering.head(normed, head), ["reads", head.outputs], "values");
  return graph.encode("decoder");
}

class Lowering {
  constructor(
    private readonly graph: GraphBuilder,
    private readonly options: LoweringOptions,
  ) {}

  /** A stored tensor, or some of its rows, in its stored type. */
  private stored(entry: TensorEntry, from = 0, rows = entry.shape[0]!): Value {
    const stride = entry.length / entry.shape[0]!;
    const type = entry.type === "U8" ? "uint8" : (entry.type as WeightType);
    return this.graph.external(type, [rows, ...entry.shape.slice(1)], {
      file: this.options.fileName(entry.file),
      offset: entry.offset + from * stride,
      length: rows * stride,
    });
  }

  /** A stored tensor in float32. */
  dense(entry: TensorEntry, from?: number, rows?: number): Floats {
    return this.graph.convert(this.stored(entry, from, rows));
  }

  /** `x W^T + b` */
  linear(x: Floats, { weight, bias }: Linear): Floats {
    const quantized = this.options.quantized?.get(weight);
    if (quantized) {
      const product = this.quantizedProduct(x, weight, quantized);
      return bias ? this.graph.op("Add", "float32", [product, this.dense(bias)]) : product;
    }
    return this.gemm(x, this.dense(weight), bias && this.dense(bias));
  }

  private gemm(x: Floats, weight: Floats, bias?: Floats): Floats {
    const inputs = bias === undefined ? [x, weight] : [x, weight, bias];
    return this.graph.op("Gemm", "float32", inputs, { transB: 1 });
  }

  private quantizedProduct(x: Floats, { shape }: TensorEntry, weight: QuantizedWeight): Floats {
    const [N, K] = shape as [number, number];
    const inputs = [x, this.stored(weight.packed), this.stored(weight.scales)];
    // Level 1: activations and sums stay in float32. Level 4 (activations in 8 bits) can give a row other values in
    // another batch, by 2e-2, and doubles the error of 8-bit weights.
    const attributes = { N, K, bits: weight.bits, block_size: BLOCK, accuracy_level: 1 };
    return this.graph.op("MatMulNBits", "float32", inputs, attributes, MICROSOFT);
  }

  /** Rows of a table: gathered as stored, so that the table itself is never converted. */
  embed(table: TensorEntry, ids: Value<"int32">): Floats {
    const stored = this.stored(table);
    const rows = this.graph.op("Gather", stored.type, [stored, ids]);
    return stored.type === "float32" ? (rows as Floats) : this.graph.op("Cast", "float32", [rows], { to: 1 });
  }

  head(x: Floats, head: HeadDescription): Floats {
    switch (head.kind) {
      case "linear":
        return this.linear(x, head.linear);
      case "mlp": {
        const hidden = this.graph.op("Relu", "float32", [this.linear(x, head.first)]);
        return this.linear(hidden, head.second);
      }
      case "rows": {
        const hidden = head.weight.shape[1]!;
        return this.gemm(x, this.graph.floats(this.options.headRows!, [head.rows.length, hidden]));
      }
      case "lm":
        return this.logProbability(x, head.weight);
    }
  }

  // log softmax(x W^T)[target] = x . W[target] - logsumexp over slabs of the vocabulary.
  private logProbability(x: Floats, weight: TensorEntry): Floats {
    const { graph } = this;
    const targets = graph.input("targets", "int32", ["reads"]);
    const product = graph.op("Mul", "float32", [x, this.embed(weight, targets)]);
    const target: Floats = graph.op("ReduceSum", "float32", [product, graph.longs(1)]);
    const logSumExp = (value: Floats): Floats =>
      graph.op("ReduceLogSumExp", "float32", [value, graph.longs(1)]);
    const slabs: Floats[] = [];
    const vocabulary = weight.shape[0]!;
    for (let from = 0; from < vocabulary; from += SLAB) {
      const rows = Math.min(SLAB, vocabulary - from);
      slabs.push(logSumExp(this.gemm(x, this.dense(weight, from, rows))));
    }
    const all = logSumExp(graph.op("Concat", "float32", slabs, { axis: 1 }));
    return graph.op("Sub", "float32", [target, all]);
  }
}
