import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { InputError } from "../errors.ts";

/** Rotary position embedding: the base, and how it is stretched beyond the trained length. */
export interface Rope {
  /** Base of the frequencies. */
  readonly theta: number;
  /** Number of rotated dimensions: the head's width. */
  readonly dim: number;
  /** How the frequencies are stretched. */
  readonly scaling: RopeScaling;
  /** Longest input that the frequencies are meant for. */
  readonly maxLength: number;
}

/** Frequencies as they are. */
export interface DefaultScaling {
  /** Tells the scalings apart. */
  readonly type: "default";
}

/** Every frequency divided by `factor`. */
export interface LinearScaling {
  /** Tells the scalings apart. */
  readonly type: "linear";
  /** The divisor. */
  readonly factor: number;
}

/** The base grows with a row's length once that exceeds `positions`. */
export interface DynamicScaling {
  /** Tells the scalings apart. */
  readonly type: "dynamic";
  /** How fast the base grows. */
  readonly factor: number;
  /** Tokens up to which nothing changes. */
  readonly positions: number;
}

/** Low frequencies divided by `factor`, high ones kept, a ramp in wavelength between. */
export interface Llama3Scaling {
  /** Tells the scalings apart. */
  readonly type: "llama3";
  /** The divisor. */
  readonly factor: number;
  /** Turns within `original` tokens below which a frequency is low. */
  readonly low: number;
  /** Turns within `original` tokens above which a frequency is high. */
  readonly high: number;
  /** Length in training, in tokens. */
  readonly original: number;
}

/** A ramp over dimensions between kept and divided frequencies, with a factor on cos and sin. */
export interface YarnScaling {
  /** Tells the scalings apart. */
  readonly type: "yarn";
  /** The divisor. */
  readonly factor: number;
  /** Length in training, in tokens. */
  readonly original: number;
  /** Turns within `original` tokens from which a frequency is kept. */
  readonly fast: number;
  /** Turns within `original` tokens up to which a frequency is divided. */
  readonly slow: number;
  /** Whether the ends of the ramp are whole dimensions. */
  readonly truncate: boolean;
  /** Factor on cos and sin. */
  readonly magnitude: number;
}

/** Trained divisors per dimension. */
export interface LongRopeScaling {
  /** Tells the scalings apart. */
  readonly type: "longrope";
  /** Divisors for rows of up to `original` tokens. */
  readonly short: readonly number[];
  /** Divisors for longer rows. */
  readonly long: readonly number[];
  /** Length in training, in tokens. */
  readonly original: number;
  /** Factor on cos and sin. */
  readonly magnitude: number;
}

/** The ways in use of stretching rotary frequencies. */
export type RopeScaling =
  | DefaultScaling
  | LinearScaling
  | DynamicScaling
  | Llama3Scaling
  | YarnScaling
  | LongRopeScaling;

const positive = z.number().positive();
const count = z.number().int().positive();

const parameters = z.looseObject({
  rope_type: z.string().nullish(),
  type: z.string().nullish(),
  rope_theta: positive.nullish(),
  partial_rotary_factor: positive.nullish(),
  factor: positive.nullish(),
  original_max_position_embeddings: count.nullish(),
  low_freq_factor: positive.nullish(),
  high_freq_factor: positive.nullish(),
  attention_factor: positive.nullish(),
  beta_fast: positive.nullish(),
  beta_slow: positive.nullish(),
  mscale: positive.nullish(),
  mscale_all_dim: positive.nullish(),
  truncate: z.boolean().nullish(),
  short_factor: z.array(positive).nullish(),
  long_factor: z.array(positive).nullish(),
});

type Parameters = z.infer<typeof parameters>;

/** @internal Reads the rotary part of a config.json, in either spelling. */
export function parseRope(
  raw: Record<string, unknown>,
  { headDim, positions, file }: { headDim: number; positions: number; file: string },
): Rope {
  // Files in both spellings: the reference lets the older one speak.
  const older = isObject(raw.rope_scaling) && Object.keys(raw.rope_scaling).length > 0;
  const key = (raw.rope_parameters ?? undefined) !== undefined && !older ? "rope_parameters" : "rope_scaling";
  const parsed = parameters.safeParse(flat(raw[key], `${file}: ${key}`));
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw new InputError("ERR_INPUT", `${file}: ${[key, ...issue.path].join(".")}: ${issue.message}`);
  }
  const given = parsed.data;
  const partial = given.partial_rotary_factor ?? raw.partial_rotary_factor ?? 1;
  if (partial !== 1) {
    throw new InputError("ERR_INPUT", `${file}: partial_rotary_factor: expected 1, got ${String(partial)}`);
  }
  const stated = positive.nullish().safeParse(raw.rope_theta);
  if (!stated.success) {
    throw new InputError("ERR_INPUT", `${file}: rope_theta: ${stated.error.issues[0]!.message}`);
  }
  const theta = given.rope_theta ?? stated.data ?? 10000;
  // Some files keep the trained length beside the scaling instead of inside it.
  const outer = raw.original_max_position_embeddings;
  const original = typeof outer === "number" ? outer : (given.original_max_position_embeddings ?? positions);
  const scaling = parseScaling(given, { original, positions, headDim, name: `${file}: ${key}` });
  return { theta, dim: headDim, scaling, maxLength: stretched(scaling, positions) };
}

// Parameters nested by kind of layer: taken where every kind has the same, since one rotation serves all layers.
function flat(given: unknown, name: string): Record<string, unknown> {
  if (given === undefined || given === null) return {};
  if (!isObject(given)) {
    throw new InputError("ERR_INPUT", `${name}: expected an object, got ${JSON.stringify(given)}`);
  }
  const nested = Object.values(given).filter(isObject);
  if (nested.length === 0) return given;
  if (nested.some((other) => !isDeepStrictEqual(other, nested[0]))) {
    const kinds = Object.keys(given).join(", ");
    throw new InputError("ERR_INPUT", `${name}: expected one rotation for all layers, got several: ${kinds}`);
  }
  return nested[0]!;
}

// How far each scaling reaches: llama3 and longrope state the stretched length as the number of positions.
function stretched(scaling: RopeScaling, positions: number): number {
  if (scaling.type === "linear" || scaling.type === "dynamic") return Math.floor(positions * scaling.factor);
  if (scaling.type === "yarn") return Math.max(positions, Math.floor(scaling.original * scaling.factor));
  return positions;
}

function parseScaling(
  given: Parameters,
  known: { original: number; positions: number; headDim: number; name: string },
): RopeScaling {
  const { original, positions, headDim, name } = known;
  const need = <K extends keyof Parameters & string>(field: K): NonNullable<Parameters[K]> => {
    const value = given[field];
    if (value === undefined || value === null) {
      throw new InputError(
        "ERR_INPUT",
        `${name}.${field}: expected a value for this kind of scaling, got none`,
      );
    }
    return value as NonNullable<Parameters[K]>;
  };
  const type = given.rope_type ?? given.type ?? "default";
  switch (type) {
    case "default":
      return { type };
    case "linear":
      return { type, factor: need("factor") };
    case "dynamic":
      return { type, factor: need("factor"), positions };
    case "llama3": {
      const [low, high] = [need("low_freq_factor"), need("high_freq_factor")];
      if (high <= low) {
        throw new InputError("ERR_INPUT", `${name}.high_freq_factor: expected more than ${low}, got ${high}`);
      }
      return { type, factor: need("factor"), low, high, original };
    }
    case "yarn": {
      const factor = given.factor ?? positions / original;
      const { mscale, mscale_all_dim: all } = given;
      const magnitude = mscale && all ? growth(factor, mscale) / growth(factor, all) : growth(factor, 1);
      return {
        type,
        factor,
        original,
        fast: given.beta_fast ?? 32,
        slow: given.beta_slow ?? 1,
        truncate: given.truncate ?? true,
        magnitude: given.attention_factor ?? magnitude,
      };
    }
    case "su":
    case "longrope": {
      const [short, long] = [need("short_factor"), need("long_factor")];
      for (const [field, list] of Object.entries({ short_factor: short, long_factor: long })) {
        if (list.length !== headDim / 2) {
          throw new InputError(
            "ERR_INPUT",
            `${name}.${field}: expected ${headDim / 2} numbers, got ${list.length}`,
          );
        }
      }
      const factor = given.factor ?? positions / original;
      const magnitude = factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(original));
      return { type: "longrope", short, long, original, magnitude: given.attention_factor ?? magnitude };
    }
    default:
      throw new InputError(
        "ERR_INPUT",
        `${name}.rope_type: expected default, linear, dynamic, llama3, yarn or longrope, got ${JSON.stringify(type)}`,
      );
  }
}

const growth = (factor: number, scale: number): number =>
  factor <= 1 ? 1 : 0.1 * scale * Math.log(factor) + 1;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * @internal Longest row whose frequencies are those of every shorter one. Beyond it, rows of different lengths share no
 * keys, so their prefixes cannot be packed.
 */
export function sharedLength({ scaling }: Rope): number {
  if (scaling.type === "dynamic") return scaling.positions;
  return scaling.type === "longrope" ? scaling.original : Infinity;
}
