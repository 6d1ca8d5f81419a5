import type { RlooBaseline } from "../advantage/index.ts";
import { assertNumber, assertOneOf } from "../validate.ts";

/** Forms of credit that can stand beside sum-form. */
export const CREDIT_FORMS = ["min-form", "strict-min-form", "mean", "product"] as const;

/** One of {@link CREDIT_FORMS}. */
export type CreditForm = (typeof CREDIT_FORMS)[number];

/** @internal Names of the baselines of `rloo`. */
export const BASELINES = ["outcome", "return", "step", "token"] as const satisfies RlooBaseline[];

/** @internal Names of the codings of the verifiable reward. */
export const VERIFIABLE_CODINGS = ["minus-one-zero", "zero-one"] as const;

/** How rewards become advantages. */
export interface CreditSettings {
  /** The form of credit; sum-form is computed beside it. Default `"min-form"`. */
  readonly credit: CreditForm;
  /** T > 0 of min-form. Default 0.1. */
  readonly temperature: number;
  /** Baseline of RLOO. Default `"return"`. */
  readonly baseline: RlooBaseline;
  /** Factor of the verifiable reward; 0 leaves it out. Default 1. */
  readonly coefficient: number;
  /** What a right and a wrong answer add. Default `"minus-one-zero"`. */
  readonly verifiableCoding: (typeof VERIFIABLE_CODINGS)[number];
  /** epsilon of the PPO loss. Default 0.2. */
  readonly clipRatio: number;
}

/**
 * @internal The settings with their defaults.
 *
 * @throws {@link ArgumentError} `ERR_ARGUMENT_VALUE`
 */
export function creditSettings(given: Partial<CreditSettings> = {}): CreditSettings {
  const settings: CreditSettings = {
    credit: given.credit ?? "min-form",
    temperature: given.temperature ?? 0.1,
    baseline: given.baseline ?? "return",
    coefficient: given.coefficient ?? 1,
    verifiableCoding: given.verifiableCoding ?? "minus-one-zero",
    clipRatio: given.clipRatio ?? 0.2,
  };
  assertOneOf(settings.credit, "credit", CREDIT_FORMS);
  assertNumber(settings.temperature, "temperature", { low: 0, open: true });
  assertOneOf(settings.baseline, "baseline", BASELINES);
  assertNumber(settings.coefficient, "coefficient");
  assertOneOf(settings.verifiableCoding, "verifiableCoding", VERIFIABLE_CODINGS);
  assertNumber(settings.clipRatio, "clipRatio", { low: 0, high: 1, open: true });
  return settings;
}
