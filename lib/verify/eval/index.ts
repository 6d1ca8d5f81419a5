export * from "./benchmarks.ts";
export * from "./dataset.ts";
export * from "./estimate.ts";
export * from "./evaluate.ts";
export * from "./generations.ts";
export * from "./generator.ts";
export * from "./grader.ts";
export type { EvalProblem, GoldElements } from "./problem.ts";
export {
  buildPrompts,
  type EvalPrompt,
  type PromptTemplate,
  promptTemplates,
  sampling,
  type Sampling,
  stopStrings,
} from "./prompts.ts";
export type * from "./results.ts";
export * from "./verifier-grader.ts";
