import { InputError } from "../../errors.ts";
import type { Guard, GuardVerdict } from "../rl/types.ts";
import type { Json } from "../run/folder.ts";
import { checkRule, GUARD_ACTIONS, type GuardRule } from "./rules.ts";
import { Watch, type WatchState } from "./watch.ts";

/**
 * The rules of {@link HackGuard} unless others are given: what rewards, lengths and the distance to the reference do when a
 * policy has found a hole in its reward. They only raise alarms. On the embedded task they did so in runs on the PRM alone
 * that broke down, and not in a run with verifiable rewards that did not (docs/guides/hacking.md).
 */
export const DEFAULT_RULES: readonly GuardRule[] = [
  { kind: "divergence", metric: "critic/score/mean", truth: "critic/rewards/verifiable/mean", fall: 0.05 },
  { kind: "jump", metric: "critic/score/mean", least: 0.2 },
  { kind: "drift", metric: "num_steps/mean", factor: 1.5, patience: 3 },
  { kind: "drift", metric: "response_length/mean", factor: 1.5, patience: 3 },
  { kind: "jump", metric: "repetition/mean", direction: "up", least: 0.05, patience: 2 },
  { kind: "jump", metric: "actor/kl", direction: "up", least: 0.05, patience: 2 },
];

/**
 * Watches the metrics of a run for reward hacking. Of the findings of a step the gravest action wins; the reason names
 * them all. The memory is as long as the windows of the rules, and lives in checkpoints.
 *
 * @throws {@link ArgumentError} for a rule out of range, naming it
 */
export class HackGuard implements Guard {
  private readonly watches: readonly Watch[];

  constructor(rules: readonly GuardRule[] = DEFAULT_RULES) {
    this.watches = rules.map((rule, i) => new Watch(checkRule(rule, `rules[${i}]`)));
  }

  /** Looks at the metrics of a step; `undefined` when all is well. */
  check(_step: number, metrics: Readonly<Record<string, number>>): GuardVerdict | undefined {
    const findings = this.watches.flatMap((watch) => {
      const reason = watch.check(metrics);
      return reason === undefined ? [] : [{ reason, gravity: GUARD_ACTIONS.indexOf(watch.rule.action) }];
    });
    if (findings.length === 0) return undefined;
    const action = GUARD_ACTIONS[Math.max(...findings.map(({ gravity }) => gravity))]!;
    return { action, reason: findings.map(({ reason }) => reason).join("; ") };
  }

  /** What a checkpoint keeps. */
  state(): Json {
    return this.watches.map((watch) => ({ ...watch.state() })) as unknown as Json;
  }

  /** Goes on from a state. */
  restore(state: Json): void {
    const states = state as unknown as readonly WatchState[];
    if (!Array.isArray(state) || state.length !== this.watches.length || !states.every(isWatchState))
      throw new InputError("ERR_INPUT", `guard state: expected the memory of ${this.watches.length} rules`);
    for (const [i, watch] of this.watches.entries()) watch.restore(states[i]!);
  }
}

function isWatchState(state: WatchState): boolean {
  const isRow = (row: unknown) => Array.isArray(row) && row.every((one) => Number.isFinite(one));
  return Array.isArray(state?.values) && state.values.every(isRow) && Number.isInteger(state.streak);
}
