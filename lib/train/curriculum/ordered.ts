import { assertCount } from "../../validate.ts";
import { shuffled } from "../batches.ts";
import type { PromptRow } from "../data/prompts.ts";
import type { PromptSampler } from "../rl/types.ts";
import type { Json } from "../run/folder.ts";
import { type LevelOptions, Levels } from "./levels.ts";
import { PromptRecords, passRate, restoredNumber, restoredState } from "./record.ts";
import { checkRest, type RestOptions, restsUntil } from "./rest.ts";
import { byId, checkKnown } from "./rows.ts";

/** Options of {@link OrderedSampler}. */
export interface OrderedOptions {
  /** Seed of the orders; an integer >= 0. Default 0. */
  readonly seed?: number;
  /** False takes the prompts as they stand. Default true: another order in every epoch. */
  readonly shuffle?: boolean;
  /** Easy prompts first, by the level in the data. Default: all from the start. */
  readonly levels?: LevelOptions;
  /** Rest of prompts whose group was all right or all wrong. Default none. */
  readonly rest?: RestOptions;
}

/**
 * Epoch by epoch, every prompt once in an epoch; with `levels` the hard ones wait until the hardest open level is passed
 * often enough; with `rest` prompts that taught nothing are left out for a while.
 *
 * A draw holds no prompt twice. It is shorter than asked for when fewer prompts are open; when all rest, the rest is
 * ignored.
 *
 * @throws {@link ArgumentError} for no prompts, ids that are not unique, options out of range, `levels` with a prompt
 * without level
 */
export class OrderedSampler implements PromptSampler {
  private readonly rows: ReadonlyMap<string, PromptRow>;
  private readonly seed: number;
  private readonly shuffle: boolean;
  private readonly levels: Levels | undefined;
  private readonly rest: Required<RestOptions>;
  private readonly records = new PromptRecords();
  private draw = 0;
  private epoch = 0;
  private position = 0;
  private order: readonly PromptRow[];

  constructor(
    private readonly all: readonly PromptRow[],
    options: OrderedOptions = {},
  ) {
    const { seed = 0, shuffle = true, levels, rest } = options;
    assertCount(seed, "seed");
    this.rows = byId(all);
    this.seed = seed;
    this.shuffle = shuffle;
    this.levels = levels && new Levels(all, levels);
    this.rest = checkRest(rest);
    this.order = this.orderOf(0);
  }

  /** The hardest open level; `undefined` without `levels`. */
  get level(): number | undefined {
    return this.levels?.hardest;
  }

  /** The prompts of the next step. */
  next(count: number): PromptRow[] {
    assertCount(count, "count", 1);
    this.draw++;
    const awake = this.take(count, (row) => (this.records.get(row.id)?.restsUntil ?? 0) < this.draw);
    return awake.length > 0 ? awake : this.take(count, () => true);
  }

  report(id: string, passes: number, samples: number): void {
    const row = checkKnown(this.rows, id);
    const rate = passRate(passes, samples);
    this.levels?.report(row, rate, samples);
    const until = restsUntil(rate, samples, this.draw, this.rest);
    if (until > 0 || this.records.get(id) !== undefined) this.records.set(id, { rate, restsUntil: until });
  }

  /** What a checkpoint keeps. */
  state(): Json {
    const { draw, epoch, position } = this;
    return {
      kind: "ordered",
      draw,
      epoch,
      position,
      ...(this.levels && { levels: this.levels.state() }),
      records: this.records.state(),
    };
  }

  /** Goes on from a state. */
  restore(state: Json): void {
    const found = restoredState(state, "ordered");
    this.draw = restoredNumber(found.draw, "draw");
    this.epoch = restoredNumber(found.epoch, "epoch");
    this.position = restoredNumber(found.position, "position");
    this.levels?.restore(found.levels);
    this.records.restore(found.records, (id) => this.rows.has(id));
    this.order = this.orderOf(this.epoch);
  }

  // At most one turn around the prompts, so that none comes twice.
  private take(count: number, isAwake: (row: PromptRow) => boolean): PromptRow[] {
    const taken = new Set<PromptRow>();
    for (let looked = 0; looked < this.all.length && taken.size < count; looked++) {
      if (this.position === this.order.length) {
        this.epoch++;
        this.position = 0;
        this.order = this.orderOf(this.epoch);
      }
      const row = this.order[this.position++]!;
      if ((this.levels?.includes(row) ?? true) && isAwake(row)) taken.add(row);
    }
    return [...taken];
  }

  private orderOf(epoch: number): readonly PromptRow[] {
    if (!this.shuffle) return this.all;
    return Array.from(shuffled(this.all.length, this.seed, epoch), (index) => this.all[index]!);
  }
}
