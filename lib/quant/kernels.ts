import type { NativeJob } from "../addon.ts";

/** @internal Kernels of bindings/quant.cc. The job resolves to the index of the first weight that is not finite, or -1. */
export interface QuantKernels {
  quantizeRows(
    weights: Float32Array | Uint16Array,
    element: number,
    rows: number,
    columns: number,
    bits: number,
    packed: Uint8Array,
    scales: Float32Array,
  ): NativeJob;
}
