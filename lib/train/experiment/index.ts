export type { Experiment, SetupStep } from "./experiment.ts";
export { readExperiment } from "./read.ts";
export type { ExperimentRun } from "./record.ts";
export { type ExperimentOptions, type ExperimentProgress, runExperiment, type Trainers } from "./run.ts";
