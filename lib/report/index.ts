export { renderEvalReport } from "./eval.ts";
export { renderReport } from "./report.ts";
