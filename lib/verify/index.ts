export type { ExtractOptions } from "./extract/extract.ts";
export { extractAnswer } from "./extract/extract.ts";
export { normalizeAnswer } from "./normalize/index.ts";
export * from "./types.ts";
export { verify, verifyResponse } from "./verify.ts";
export * from "./eval/index.ts";
