/**
 * Training: the engine, and the embedded task.
 *
 * @packageDocumentation
 */
export {
  AddonError,
  ArgumentError,
  InputError,
  MinformError,
  type MinformErrorCode,
  ModelError,
  NumericError,
} from "../errors.ts";
export * from "./arithmetic/index.ts";
export * from "./engine/index.ts";
