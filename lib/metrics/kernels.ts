/** @internal Kernels of bindings/metrics.cc. */
export interface MetricsKernels {
  repetitionScores(ids: Int32Array, offsets: Int32Array, scores: Float64Array): void;
}
