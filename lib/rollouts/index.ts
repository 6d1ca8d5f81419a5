/**
 * The main job on files of scored rollouts.
 *
 * @packageDocumentation
 */
export * from "../errors.ts";
export type { Example, ExampleForm, ExampleKind, ExampleSolution } from "./examples.ts";
export { type AdvantagesJob, type AdvantagesResults, type JobProgress, runAdvantages } from "./job.ts";
export { CREDIT_FORMS, type CreditForm, type CreditSettings } from "./options.ts";
export type { PolicySummary } from "./policy.ts";
export type { HistogramBin, RocPoint } from "./ranking.ts";
export type { BadLine } from "./scan.ts";
export type { SpreadSummary } from "../metrics/spread.ts";
export type * from "./summary.ts";
