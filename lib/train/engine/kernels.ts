import type { NativeJob } from "../../addon.ts";

declare const engineTag: unique symbol;

/** @internal A native engine: the shape of a model, and the activations of its pass. */
export interface NativeEngine {
  readonly [engineTag]: true;
}

/** @internal Tensors, gradients, and low-rank adapters, in the order that bindings/model_args.h states. */
export type ParameterArguments = [
  tensors: readonly (Float32Array | null)[],
  gradients: readonly (Float32Array | null)[] | null,
  adapters: Int32Array,
  adapterScales: Float64Array,
  adapterTensors: readonly (Float32Array | null)[],
];

/** @internal Weights of a small head, their gradients, and its widths. */
export type ReadoutArguments = [
  first: Float32Array,
  firstBias: Float32Array | null,
  second: Float32Array | null,
  secondBias: Float32Array | null,
  gradFirst: Float32Array | null,
  gradFirstBias: Float32Array | null,
  gradSecond: Float32Array | null,
  gradSecondBias: Float32Array | null,
  inner: number,
  outputs: number,
];

/** @internal Kernels of bindings/model.cc. */
export interface ModelKernels {
  create(
    vocabulary: number,
    hidden: number,
    inner: number,
    heads: number,
    kvHeads: number,
    headDim: number,
    normEpsilon: number,
    headNorms: boolean,
    windows: Int32Array,
    frequencies: Float32Array,
    magnitude: number,
  ): NativeEngine;
  bytes(engine: NativeEngine): number;
  forward(
    engine: NativeEngine,
    ...rest: [...ParameterArguments, ids: Int32Array, offsets: Int32Array, keep: number]
  ): NativeJob;
  backward(engine: NativeEngine, ...parameters: ParameterArguments): NativeJob;
  logProbs(
    engine: NativeEngine,
    head: Float32Array,
    reads: Int32Array,
    targets: Int32Array,
    temperature: number,
    logProbs: Float32Array,
    entropy: Float32Array | null,
    sumSquaredProbs: Float32Array | null,
    logSumExp: Float64Array,
  ): NativeJob;
  logProbsBackward(
    engine: NativeEngine,
    head: Float32Array,
    reads: Int32Array,
    targets: Int32Array,
    temperature: number,
    logSumExp: Float64Array,
    entropy: Float32Array | null,
    gradLogProbs: Float32Array,
    gradEntropy: Float32Array | null,
    gradHead: Float32Array | null,
  ): NativeJob;
  readout(
    engine: NativeEngine,
    ...rest: [...ReadoutArguments, reads: Int32Array, out: Float32Array]
  ): NativeJob;
  readoutBackward(
    engine: NativeEngine,
    ...rest: [...ReadoutArguments, reads: Int32Array, gradOut: Float32Array]
  ): NativeJob;
  generate(
    engine: NativeEngine,
    ...rest: [
      ...ParameterArguments,
      head: Float32Array,
      promptIds: Int32Array,
      promptOffsets: Int32Array,
      promptOf: Int32Array,
      sampleOf: Int32Array,
      seed: Int32Array,
      temperature: number,
      topK: number,
      topP: number,
      minP: number,
      stops: Int32Array,
      maxTokens: number,
      batch: number,
      tokens: Int32Array,
      logProbs: Float32Array,
      lengths: Int32Array,
      stopped: Uint8Array,
      ended: Uint8Array | null,
    ]
  ): NativeJob;
}
