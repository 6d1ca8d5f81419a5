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
 * - `ERR_CLOSED`: a model was used after it was closed, or a device tensor after it was disposed of.
 * - `ERR_PLACEMENT`: some arrays of a call are on the host and some on the device.
 * - `ERR_DEVICE_NONE`: there is no GPU, or none that works.
 * - `ERR_DEVICE_MEMORY`: the GPU is out of memory.
 * - `ERR_DEVICE_LOST`: the GPU failed and cannot be used again by this process.
 * - `ERR_DEVICE`: the GPU refused an operation.
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
  | "ERR_CLOSED"
  | "ERR_PLACEMENT"
  | "ERR_DEVICE_NONE"
  | "ERR_DEVICE_MEMORY"
  | "ERR_DEVICE_LOST"
  | "ERR_DEVICE";

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

/**
 * An argument is of the wrong kind, shape, range or in the wrong place: `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`,
 * `ERR_SHAPE` or `ERR_PLACEMENT`.
 */
export class ArgumentError extends MinformError {}

/** A value that counts is NaN or infinite, or a group of one is not allowed: `ERR_NOT_FINITE`, `ERR_SINGLETON_GROUP`. */
export class NumericError extends MinformError {}

/** The native addon cannot be loaded or failed: `ERR_ADDON`. */
export class AddonError extends MinformError {}

/**
 * The GPU cannot do what was asked: `ERR_DEVICE_NONE`, `ERR_DEVICE_MEMORY`, `ERR_DEVICE_LOST`, `ERR_DEVICE`, or
 * `ERR_CLOSED` for a tensor that was disposed of. Unless the device is lost, everything else stays usable.
 */
export class DeviceError extends MinformError {}

/** A file, or a row of one, is missing or malformed: `ERR_INPUT`. The message names file and line. */
export class InputError extends MinformError {}

/**
 * A convention, or an input under one, cannot be scored as asked: `ERR_CONVENTION`, `ERR_CONVENTION_UNKNOWN`,
 * `ERR_STEP_READS`, `ERR_TOO_LONG`, `ERR_SCORE_RANGE`.
 */
export class PrmError extends MinformError {}

/** A model cannot be run: `ERR_DEPENDENCY`, `ERR_RUNTIME` or `ERR_CLOSED`. */
export class ModelError extends MinformError {}
