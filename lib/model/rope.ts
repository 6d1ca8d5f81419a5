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
  const key = isObject(raw.rope_parameters) ? "rope_parameters" : "rope_scaling";
  const parsed = parameters.safeParse(isObject(raw[key]) ? raw[key] : {});
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw new InputError("ERR_INPUT", `${file}: ${[key, ...issue.path].join(".")}: ${issue.message}`);
  }
  const given = parsed.data;
  const partial = given.partial_rotary_factor ?? raw.partial_rotary_factor ?? 1;
  if (partial !== 1) {
    throw new InputError("ERR_INPUT", `${file}: partial_rotary_factor: expected 1, got ${String(partial)}`);
  }
  const theta = given.rope_theta ?? (typeof raw.rope_theta === "number" ? raw.rope_theta : 10000);
  // Some files keep the trained length beside the scaling instead of inside it.
  const outer = raw.original_max_position_embeddings;
  const original = typeof outer === "number" ? outer : (given.original_max_position_embeddings ?? positions);
  const scaling = parseScaling(given, { original, positions, headDim, name: `${file}: ${key}` });
  return { theta, dim: headDim, scaling, maxLength: stretched(scaling, positions) };
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

// Frequencies are rounded to float32 at every step, as the reference does: at position p a relative error of 2^-24 in
// a frequency is a phase error of p 2^-24, which shows in the scores of long inputs.
const round = Math.fround;

/** What {@link ropeFrequencies} returns. */
export interface RopeFrequencies {
  /** Radians per position, one per pair of dimensions. */
  readonly frequencies: Float32Array;
  /** Factor on cos and sin. */
  readonly magnitude: number;
}

/**
 * Frequencies of a rotary embedding for a row of the given length: `theta^(-2i / dim)`, stretched. cos and sin are
 * scaled by `magnitude`.
 *
 * Sources: linear and dynamic as used by Llama checkpoints; llama3 as in Llama 3.1; YaRN, arXiv 2309.00071; LongRoPE,
 * arXiv 2402.13753.
 *
 * @param length - number of positions of the row (its highest position + 1)
 */
export function ropeFrequencies(rope: Rope, length: number): RopeFrequencies {
  const { dim, scaling } = rope;
  const exponent = (i: number) => round((2 * i) / dim);
  const power = (base: number, i: number) => round(base ** exponent(i));
  const build = (frequency: (i: number) => number, magnitude = 1) => ({
    frequencies: Float32Array.from({ length: dim / 2 }, (_, i) => frequency(i)),
    magnitude,
  });
  const plain = (i: number) => round(1 / power(rope.theta, i));
  switch (scaling.type) {
    case "default":
      return build(plain);
    case "linear":
      return build((i) => round(plain(i) / scaling.factor));
    case "dynamic": {
      const { factor, positions } = scaling;
      const reach = Math.max(length, positions);
      const base = rope.theta * ((factor * reach) / positions - (factor - 1)) ** (dim / (dim - 2));
      return build((i) => round(1 / power(base, i)));
    }
    case "llama3":
      return build((i) => llama3(plain(i), scaling));
    case "yarn": {
      const [low, high] = yarnRange(rope.theta, dim, scaling);
      return build((i) => {
        const kept = 1 - Math.min(1, Math.max(0, (i - low) / (high - low)));
        const position = power(rope.theta, i);
        return round(round((1 / (scaling.factor * position)) * (1 - kept)) + round((1 / position) * kept));
      }, scaling.magnitude);
    }
    case "longrope": {
      const divisors = length > scaling.original ? scaling.long : scaling.short;
      return build((i) => round(1 / round(round(divisors[i]!) * power(rope.theta, i))), scaling.magnitude);
    }
  }
}

function llama3(frequency: number, s: Llama3Scaling): number {
  const wavelength = (2 * Math.PI) / frequency;
  if (wavelength < s.original / s.high) return frequency;
  if (wavelength > s.original / s.low) return round(frequency / s.factor);
  const smooth = (s.original / wavelength - s.low) / (s.high - s.low);
  return round(((1 - smooth) * frequency) / s.factor + smooth * frequency);
}

function yarnRange(theta: number, dim: number, s: YarnScaling): [low: number, high: number] {
  const at = (rotations: number) =>
    (dim * Math.log(s.original / (rotations * 2 * Math.PI))) / (2 * Math.log(theta));
  const round = s.truncate ? { low: Math.floor, high: Math.ceil } : { low: Number, high: Number };
  const low = Math.max(round.low(at(s.fast)), 0);
  const high = Math.min(round.high(at(s.slow)), dim - 1);
  return [low, high === low ? high + 0.001 : high];
}
