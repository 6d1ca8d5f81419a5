/**
 * Stable codes of {@link MinformError}.
 *
 * - `ERR_ARGUMENT_TYPE`: an argument is of the wrong kind (not a typed array, wrong dtype, shared or detached memory).
 * - `ERR_ARGUMENT_VALUE`: a number or name is outside its range.
 * - `ERR_SHAPE`: lengths, dims or offsets do not fit together.
 * - `ERR_NOT_FINITE`: a value that counts is NaN (or infinite where only finite values make sense).
 * - `ERR_SINGLETON_GROUP`: a group of one under `singleton: "error"`.
 * - `ERR_ADDON`: the native addon cannot be loaded, or it failed.
 * - `ERR_INPUT`: a file or a row of a file is missing or malformed.
 * - `ERR_CONVENTION`: a scoring convention is malformed, or does not fit the tokenizer or the checkpoint.
 * - `ERR_CONVENTION_UNKNOWN`: the checkpoint does not tell which convention it was trained with.
 * - `ERR_STEP_READS`: an input does not give exactly one read per step.
 * - `ERR_TOO_LONG`: an input exceeds the model's context.
 * - `ERR_SCORE_RANGE`: an operation that has no meaning on scores of this range.
 * - `ERR_DEPENDENCY`: an optional package is not installed.
 * - `ERR_RUNTIME`: the model runtime failed.
 * - `ERR_CLOSED`: a model was used after it was closed.
 */
export type MinformErrorCode =
  | "ERR_ARGUMENT_TYPE"
  | "ERR_ARGUMENT_VALUE"
  | "ERR_SHAPE"
  | "ERR_NOT_FINITE"
  | "ERR_SINGLETON_GROUP"
  | "ERR_ADDON"
  | "ERR_INPUT"
  | "ERR_CONVENTION"
  | "ERR_CONVENTION_UNKNOWN"
  | "ERR_STEP_READS"
  | "ERR_TOO_LONG"
  | "ERR_SCORE_RANGE"
  | "ERR_DEPENDENCY"
  | "ERR_RUNTIME"
  | "ERR_CLOSED";

/** Base class of every error this library throws. `code` is stable; the message is for people. */
export class MinformError extends Error {
  /** What kind of error it is; stable across versions. */
  readonly code: MinformErrorCode;

  constructor(code: MinformErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** An argument is of the wrong kind, shape or range: `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE` or `ERR_SHAPE`. */
export class ArgumentError extends MinformError {}

/** A value that counts is NaN or infinite, or a group of one is not allowed: `ERR_NOT_FINITE`, `ERR_SINGLETON_GROUP`. */
export class NumericError extends MinformError {}

/** The native addon cannot be loaded or failed: `ERR_ADDON`. */
export class AddonError extends MinformError {}

/** A file, or a row of one, is missing or malformed: `ERR_INPUT`. The message names file and line. */
export class InputError extends MinformError {}

/**
 * A convention, or an input under one, cannot be scored as asked: `ERR_CONVENTION`, `ERR_CONVENTION_UNKNOWN`,
 * `ERR_STEP_READS`, `ERR_TOO_LONG`, `ERR_SCORE_RANGE`.
 */
export class PrmError extends MinformError {}

/** A model cannot be run: `ERR_DEPENDENCY`, `ERR_RUNTIME` or `ERR_CLOSED`. */
export class ModelError extends MinformError {}
