import { ArgumentError } from "../../errors.ts";
import { assertCount, assertNumber, assertOneOf } from "../../validate.ts";

/** What is done about a finding, the mildest first. */
export const GUARD_ACTIONS = ["alarm", "rollback", "stop"] as const;

/** One of {@link GUARD_ACTIONS}. */
export type GuardAction = (typeof GUARD_ACTIONS)[number];

/** Which way a metric must move to be suspect. */
export type GuardDirection = "up" | "down" | "both";

interface RuleBase {
  /** Name of the metric. Steps that do not have it are passed over. */
  readonly metric: string;
  /** What is done. Default `"alarm"`. */
  readonly action?: GuardAction;
  /** Steps in a row that must be suspect. Default 1. */
  readonly patience?: number;
}

/** A value far outside a running window: `|x - median| > deviations * 1.4826 MAD + least`. */
export interface JumpRule extends RuleBase {
  /** Tells the rules apart. */
  readonly kind: "jump";
  /** Default `"both"`. */
  readonly direction?: GuardDirection;
  /** Robust deviations of the window. Default 6. */
  readonly deviations?: number;
  /** Distance from the median that is never suspect, in the metric's unit: windows can be flat. Default 0. */
  readonly least?: number;
  /** Values in the window; it must be full. Suspect values do not enter it. Default 20. */
  readonly window?: number;
}

/** A value that has left its beginning by more than a factor; slow changes pass every window. */
export interface DriftRule extends RuleBase {
  /** Tells the rules apart. */
  readonly kind: "drift";
  /** Default `"both"`. */
  readonly direction?: GuardDirection;
  /** > 1: suspect above `factor * start` and below `start / factor`. Default 1.5. */
  readonly factor?: number;
  /** Values whose mean is the start. Default 5. */
  readonly first?: number;
}

/** A value beyond a bound. */
export interface LimitRule extends RuleBase {
  /** Tells the rules apart. */
  readonly kind: "limit";
  /** The highest value that is fine. */
  readonly max?: number;
  /** The lowest value that is fine. */
  readonly min?: number;
}

/**
 * The picture of reward hacking: over a window the judged reward rises while the true one falls. Suspect when the mean of
 * the window's later half exceeds that of its earlier half by `rise` for `metric`, and is below it by `fall` for `truth`.
 */
export interface DivergenceRule extends RuleBase {
  /** Tells the rules apart. */
  readonly kind: "divergence";
  /** Name of the metric that can be trusted. */
  readonly truth: string;
  /** Rise of `metric`, >= 0. Default 0. */
  readonly rise?: number;
  /** Fall of `truth`, > 0. */
  readonly fall: number;
  /** Values in the window, even. Default 20. */
  readonly window?: number;
}

/** What a {@link HackGuard} looks for. */
export type GuardRule = JumpRule | DriftRule | LimitRule | DivergenceRule;

/** @internal A rule with its defaults. */
export type CheckedRule = Required<JumpRule | DriftRule | LimitRule | DivergenceRule>;

/** @internal Checks a rule and fills in its defaults. */
export function checkRule(rule: GuardRule, name: string): CheckedRule {
  assertOneOf(rule.kind, `${name}.kind`, ["jump", "drift", "limit", "divergence"]);
  if (typeof rule.metric !== "string" || rule.metric === "")
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      `${name}.metric: expected a name, got ${String(rule.metric)}`,
    );
  const base = { action: "alarm" as const, patience: 1 };
  const checked = { ...base, ...DEFAULTS[rule.kind], ...rule } as CheckedRule;
  assertOneOf(checked.action, `${name}.action`, GUARD_ACTIONS);
  assertCount(checked.patience, `${name}.patience`, 1);
  if ("direction" in checked) assertOneOf(checked.direction, `${name}.direction`, ["up", "down", "both"]);
  switch (checked.kind) {
    case "jump":
      assertNumber(checked.deviations, `${name}.deviations`, { low: 0 });
      assertNumber(checked.least, `${name}.least`, { low: 0 });
      assertCount(checked.window, `${name}.window`, 3);
      break;
    case "drift":
      assertNumber(checked.factor, `${name}.factor`, { low: 1, open: true });
      assertCount(checked.first, `${name}.first`, 1);
      break;
    case "limit":
      if (rule.kind === "limit" && rule.max === undefined && rule.min === undefined)
        throw new ArgumentError("ERR_ARGUMENT_VALUE", `${name}: expected max or min, got neither`);
      break;
    case "divergence":
      assertNumber(checked.rise, `${name}.rise`, { low: 0 });
      assertNumber(checked.fall, `${name}.fall`, { low: 0, open: true });
      assertCount(checked.window, `${name}.window`, 2);
      if (checked.window % 2 === 1)
        throw new ArgumentError(
          "ERR_ARGUMENT_VALUE",
          `${name}.window: expected an even number, got ${checked.window}`,
        );
      break;
  }
  return checked;
}

const DEFAULTS = {
  jump: { direction: "both", deviations: 6, least: 0, window: 20 },
  drift: { direction: "both", factor: 1.5, first: 5 },
  limit: { max: Infinity, min: -Infinity },
  divergence: { rise: 0, window: 20 },
} as const;
