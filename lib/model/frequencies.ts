import type { Llama3Scaling, Rope, YarnScaling } from "./rope.ts";

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
