export { renderEvalReport } from "./eval.ts";
export { renderReport } from "./report.ts";
export { renderRunReport } from "./run/run.ts";
