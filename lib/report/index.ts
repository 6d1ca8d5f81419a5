export { renderReport } from "./report.ts";
