import { assertCount, assertNumber } from "../../validate.ts";
import { randomStream } from "../arithmetic/random.ts";
import type { PromptRow } from "../data/prompts.ts";
import type { PromptSampler } from "../rl/types.ts";
import type { Json } from "../run/folder.ts";
import { PromptRecords, passRate, restoredNumber, restoredState } from "./record.ts";
import { byId, checkKnown } from "./rows.ts";

/** Options of {@link PassRateSampler}. */
export interface PassRateOptions {
  /** Seed of the draws; an integer >= 0. Default 0. */
  readonly seed?: number;
  /** Pass rate of the prompts that are drawn most, in (0, 1). Default 0.5: where a group's rewards vary most. */
  readonly target?: number;
  /** Width of the preference, in pass rate, > 0. Default 0.25. */
  readonly width?: number;
  /** Weight of the prompts furthest from the target, in (0, 1]: they must come back now and then. Default 0.05. */
  readonly floor?: number;
  /** Weight of the newest group in the running rate, in (0, 1]. Default 0.5. */
  readonly memory?: number;
}

/**
 * Draws prompts by their measured pass rate p: with weight `max(floor, exp(-((p - target) / width)^2 / 2))`, and with
 * weight 1 as long as they have not been tried. Without replacement: a draw holds no prompt twice, and is shorter than
 * asked for only when there are fewer prompts.
 *
 * Source of the draw: Efraimidis and Spirakis, Information Processing Letters 97 (2006), 181-185: the largest
 * `log(u) / weight` win.
 *
 * @throws {@link ArgumentError} for no prompts, ids that are not unique, options out of range
 */
export class PassRateSampler implements PromptSampler {
  private readonly rows: ReadonlyMap<string, PromptRow>;
  private readonly options: Required<PassRateOptions>;
  private readonly records = new PromptRecords();
  private draw = 0;

  constructor(rows: readonly PromptRow[], options: PassRateOptions = {}) {
    const { seed = 0, target = 0.5, width = 0.25, floor = 0.05, memory = 0.5 } = options;
    assertCount(seed, "seed");
    assertNumber(target, "target", { low: 0, high: 1 });
    assertNumber(width, "width", { low: 0, open: true });
    assertNumber(floor, "floor", { low: 0, high: 1, open: true });
    assertNumber(memory, "memory", { low: 0, high: 1, open: true });
    this.rows = byId(rows);
    this.options = { seed, target, width, floor, memory };
  }

  /** The prompts of the next step. */
  next(count: number): PromptRow[] {
    assertCount(count, "count", 1);
    const random = randomStream(this.options.seed, this.draw++);
    return [...this.rows.values()]
      .map((row) => ({ row, key: Math.log(1 - random()) / this.weight(row) }))
      .sort((a, b) => b.key - a.key)
      .slice(0, count)
      .map(({ row }) => row);
  }

  report(id: string, passes: number, samples: number): void {
    checkKnown(this.rows, id);
    const rate = passRate(passes, samples);
    if (samples === 0) return;
    const old = this.records.get(id)?.rate ?? rate;
    this.records.set(id, { rate: old + this.options.memory * (rate - old), restsUntil: 0 });
  }

  /** What a checkpoint keeps. */
  state(): Json {
    return { kind: "pass-rate", draw: this.draw, records: this.records.state() };
  }

  /** Goes on from a state. */
  restore(state: Json): void {
    const found = restoredState(state, "pass-rate");
    this.draw = restoredNumber(found.draw, "draw");
    this.records.restore(found.records, (id) => this.rows.has(id));
  }

  private weight({ id }: PromptRow): number {
    const { target, width, floor } = this.options;
    const rate = this.records.get(id)?.rate;
    return rate === undefined ? 1 : Math.max(floor, Math.exp(-(((rate - target) / width) ** 2) / 2));
  }
}
