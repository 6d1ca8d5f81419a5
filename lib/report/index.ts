export { renderEvalReport } from "./eval.ts";
export { renderReport } from "./report.ts";
export { comparisonTable, type ComparisonOptions, renderComparison } from "./run/compare.ts";
export { renderRunReport } from "./run/run.ts";
export type { ComparedRun } from "./run/setting.ts";
