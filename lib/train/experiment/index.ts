export type { Experiment, PrmStep, SetupStep, SftStep } from "./experiment.ts";
export { readExperiment } from "./read.ts";
export type { ExperimentRun } from "./record.ts";
export { type ExperimentOptions, type ExperimentProgress, runExperiment } from "./run.ts";
