import { ArgumentError } from "../../errors.ts";
import { assertCount, assertNumber } from "../../validate.ts";
import type { PromptRow } from "../data/prompts.ts";
import type { Json } from "../run/folder.ts";
import { restoredNumber } from "./record.ts";

/** When harder prompts are let in. */
export interface LevelOptions {
  /** Levels open at the start, counted from the easiest. Default 1. */
  readonly start?: number;
  /** Running pass rate of the hardest open level at which the next one opens, in (0, 1]. Default 0.7. */
  readonly threshold?: number;
  /** Responses to the hardest open level that must have been seen since it opened. Default 64. */
  readonly minimum?: number;
  /** Responses over which the running rate forgets: weight `1 - exp(-samples / memory)` for a group. Default 128. */
  readonly memory?: number;
}

/** @internal Opens levels one by one, the easiest first. */
export class Levels {
  private readonly levels: readonly number[];
  private readonly options: Required<LevelOptions>;
  private open: number;
  private rate = 0;
  private seen = 0;

  constructor(rows: readonly PromptRow[], options: LevelOptions) {
    const { start = 1, threshold = 0.7, minimum = 64, memory = 128 } = options;
    assertCount(start, "levels.start");
    assertNumber(threshold, "levels.threshold", { low: 0, high: 1, open: true });
    assertCount(minimum, "levels.minimum");
    assertNumber(memory, "levels.memory", { low: 0, open: true });
    const without = rows.findIndex(({ level }) => level === undefined || !Number.isFinite(level));
    if (without >= 0) {
      throw new ArgumentError(
        "ERR_ARGUMENT_VALUE",
        `rows[${without}].level: expected a number for a curriculum by level, got ${rows[without]!.level}`,
      );
    }
    this.levels = [...new Set(rows.map(({ level }) => level!))].sort((a, b) => a - b);
    if (start === 0 || start > this.levels.length) {
      throw new ArgumentError(
        "ERR_ARGUMENT_VALUE",
        `levels.start: expected 1 to ${this.levels.length} (the levels of the prompts), got ${start}`,
      );
    }
    this.options = { start, threshold, minimum, memory };
    this.open = start;
  }

  /** The hardest level that is open. */
  get hardest(): number {
    return this.levels[this.open - 1]!;
  }

  includes({ level }: PromptRow): boolean {
    return level! <= this.hardest;
  }

  report({ level }: PromptRow, rate: number, samples: number): void {
    if (level !== this.hardest || this.open === this.levels.length) return;
    // The first group counts fully: there is nothing yet to be remembered.
    const weight = this.seen === 0 ? 1 : 1 - Math.exp(-samples / this.options.memory);
    this.rate += weight * (rate - this.rate);
    this.seen += samples;
    if (this.seen < this.options.minimum || this.rate < this.options.threshold) return;
    this.open++;
    this.rate = this.seen = 0;
  }

  state(): Json {
    return { open: this.open, rate: this.rate, seen: this.seen };
  }

  restore(state: Json | undefined): void {
    const { open, rate, seen } = (state ?? {}) as { readonly [key: string]: Json };
    this.open = Math.min(this.levels.length, Math.max(1, restoredNumber(open, "levels.open")));
    this.rate = restoredNumber(rate, "levels.rate");
    this.seen = restoredNumber(seen, "levels.seen");
  }
}
