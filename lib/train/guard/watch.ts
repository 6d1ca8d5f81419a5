import type { CheckedRule } from "./rules.ts";

/** @internal What a rule remembers. */
export interface WatchState {
  /** Values of the window, of the start, or pairs of a divergence. */
  readonly values: readonly (readonly number[])[];
  /** Suspect steps in a row. */
  readonly streak: number;
}

/** @internal One rule with its memory. */
export class Watch {
  private values: (readonly number[])[] = [];
  private streak = 0;

  constructor(readonly rule: CheckedRule) {}

  /** Looks at a step; says what is wrong, when something has been for long enough. */
  check(metrics: Readonly<Record<string, number>>): string | undefined {
    const { rule } = this;
    const value = metrics[rule.metric];
    if (value === undefined) return undefined;
    const finding = Number.isFinite(value)
      ? this.look(value, metrics)
      : `${rule.metric} is ${value}, not a finite number`;
    this.streak = finding === undefined ? 0 : this.streak + 1;
    return this.streak >= rule.patience ? finding : undefined;
  }

  state(): WatchState {
    return { values: this.values.map((one) => [...one]), streak: this.streak };
  }

  restore({ values, streak }: WatchState): void {
    this.values = values.map((one) => [...one]);
    this.streak = streak;
  }

  private look(value: number, metrics: Readonly<Record<string, number>>): string | undefined {
    const { rule } = this;
    switch (rule.kind) {
      case "jump": {
        const window = this.values.map(([one]) => one!);
        const full = window.length === rule.window;
        const middle = median(window);
        const spread = 1.4826 * median(window.map((one) => Math.abs(one - middle)));
        const bound = rule.deviations * spread + rule.least;
        if (full && isOutside(value, middle - bound, middle + bound, rule.direction))
          return `${rule.metric} jumped to ${show(value)}: the last ${rule.window} steps lie around ${show(middle)}, at most ${show(bound)} away is usual`;
        this.push([value], rule.window);
        return undefined;
      }
      case "drift": {
        if (this.values.length < rule.first) {
          this.values.push([value]);
          return undefined;
        }
        const start = this.values.reduce((sum, [one]) => sum + one!, 0) / rule.first;
        // The factor of a negative start goes the other way; from 0 there is no factor.
        const [low, high] = [start / rule.factor, start * rule.factor].sort((a, b) => a - b) as [
          number,
          number,
        ];
        if (start === 0 || !isOutside(value, low, high, rule.direction)) return undefined;
        return `${rule.metric} went from ${show(start)} to ${show(value)}, more than a factor of ${rule.factor}`;
      }
      case "limit":
        if (!isOutside(value, rule.min, rule.max, "both")) return undefined;
        return `${rule.metric} is ${show(value)}, expected ${show(rule.min)} to ${show(rule.max)}`;
      case "divergence": {
        const truth = metrics[rule.truth];
        if (truth === undefined || !Number.isFinite(truth)) return undefined;
        this.push([value, truth], rule.window);
        if (this.values.length < rule.window) return undefined;
        const rise = this.change(0);
        const fall = -this.change(1);
        if (rise <= rule.rise || fall <= rule.fall) return undefined;
        return `${rule.metric} rose by ${show(rise)} while ${rule.truth} fell by ${show(fall)} within ${rule.window} steps`;
      }
    }
  }

  private push(values: readonly number[], window: number): void {
    this.values.push(values);
    if (this.values.length > window) this.values.shift();
  }

  // Mean of the later half less that of the earlier one.
  private change(column: number): number {
    const half = this.values.length / 2;
    const sum = this.values.reduce((total, one, i) => total + (i < half ? -one[column]! : one[column]!), 0);
    return sum / half;
  }
}

function isOutside(value: number, low: number, high: number, direction: "up" | "down" | "both"): boolean {
  return (direction !== "down" && value > high) || (direction !== "up" && value < low);
}

function median(values: readonly number[]): number {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function show(value: number): string {
  return String(Number(value.toPrecision(3)));
}
