/**
 * Verifiable rewards: whether an answer is right, never fooled and never hung.
 *
 * @packageDocumentation
 */
export * from "../errors.ts";
export * from "./eval/index.ts";
export { type ExtractOptions, extractAnswer } from "./extract/extract.ts";
export { normalizeAnswer } from "./normalize/index.ts";
export type { GradingOptions } from "./pool/protocol.ts";
export {
  type BatchOptions,
  createVerifier,
  type Verifier,
  type VerifierOptions,
  type VerifyProgress,
} from "./pool/verifier.ts";
export * from "./presets/index.ts";
export * from "./reward/reward.ts";
export * from "./types.ts";
export { verify, verifyResponse } from "./verify.ts";
