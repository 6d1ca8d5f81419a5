export type { Environment } from "./environment.ts";
export { type Json, type MetricsRow, type RunCheckpoint, RunFolder, type RunOptions } from "./folder.ts";
export type { PhaseOptions, PhaseProgress } from "./progress.ts";
export { loadOptimizer, loadWeights, saveOptimizer, saveWeights } from "./weights.ts";
