import { assertCount, assertNumber, assertOneOf } from "../../validate.ts";
import { shuffled } from "../batches.ts";
import type { StepwiseRow } from "../data/stepwise.ts";
import type { TrainableModel } from "../engine/model.ts";
import { Optimizer } from "../engine/optimizer.ts";
import { prmGradients } from "../prm/loss.ts";
import { createScorer, type StepScorer } from "../prm/scorer.ts";
import { type EncodedSolution, encodeSolution } from "../prm/solutions.ts";
import type { StepContext, TrainPlugin } from "../rl/types.ts";
import type { TextCodec } from "../text/codec.ts";
import type { Json } from "../run/folder.ts";
import { loadOptimizer, loadWeights, saveOptimizer, saveWeights } from "../run/weights.ts";
import { SolutionPool } from "./pool.ts";
import { BLAME, type Blame, relabel } from "./relabel.ts";

/** Options of {@link OnlinePrm}. */
export interface OnlineOptions {
  /** Steps of the run between refreshes. Default 5. */
  readonly every?: number;
  /** The policy's solutions per optimiser step, half of them right while there are enough. Default 32. */
  readonly batch?: number;
  /** Optimiser steps of a refresh at most; fewer when there are not enough solutions. Default 4. */
  readonly steps?: number;
  /** Default 1e-3: the embedded task. For large models stage 2 of PRM training has 1e-6. */
  readonly learningRate?: number;
  /** Largest global gradient norm. Default 1. */
  readonly maxNorm?: number;
  /** Which step of a wrong solution is blamed, see {@link relabel}. Default `"weakest"`. */
  readonly blame?: Blame;
  /**
   * Solutions that the PRM was trained on, in the policy's vocabulary: as many of them go into every batch, against forgetting. Without them a refresh
   * takes as many right as wrong solutions, and none when one kind is missing. Default none.
   */
  readonly replay?: {
    /** Labelled solutions. */
    readonly rows: readonly StepwiseRow[];
    /** Vocabulary of the PRM. */
    readonly codec: TextCodec;
  };
  /** Seed of what is drawn; an integer >= 0. Default 0. */
  readonly seed?: number;
}

type Settings = Required<Omit<OnlineOptions, "replay">>;

const DEFAULTS: Settings = {
  every: 5,
  batch: 32,
  steps: 4,
  learningRate: 1e-3,
  maxNorm: 1,
  blame: "weakest",
  seed: 0,
};

// Of each kind; more than a refresh takes.
const CAPACITY = 1024;

/**
 * An online PRM: as the policy moves away from the solutions that the PRM was trained on, the PRM goes on learning from
 * the policy's own, labelled by whether their answers are right (see {@link relabel}). A hole in the PRM that the policy
 * falls into fills up with wrong answers, and is closed.
 *
 * Give `prm.scorer` to the run as its scorer, and the object as a plugin. Rollouts without a known answer are not used.
 */
export class OnlinePrm implements TrainPlugin {
  readonly name = "online-prm";
  /** Scores with the weights as they are. */
  readonly scorer: StepScorer;
  private readonly optimizer: Optimizer;
  private readonly settings: Settings;
  private readonly replay: readonly EncodedSolution[];
  private readonly pool = new SolutionPool(CAPACITY);
  private refreshes = 0;

  /**
   * @param prm - a PRM with a classifier of two classes, trained as `openScorer` gives it; its weights change
   * @throws {@link ArgumentError} for options out of range
   */
  constructor(
    private readonly prm: { readonly model: TrainableModel; readonly separatorId: number },
    options: OnlineOptions = {},
  ) {
    const { replay, ...rest } = options;
    this.settings = { ...DEFAULTS, ...rest };
    const { every, batch, steps, seed } = this.settings;
    for (const [name, value] of Object.entries({ every, batch, steps })) assertCount(value, name, 1);
    assertCount(seed, "seed");
    assertNumber(this.settings.learningRate, "learningRate", { low: 0 });
    assertNumber(this.settings.maxNorm, "maxNorm", { low: 0, open: true });
    assertOneOf(this.settings.blame, "blame", BLAME);
    this.replay = replay?.rows.map((row) => encodeSolution(row, replay.codec, prm.separatorId)) ?? [];
    this.scorer = createScorer(prm.model, { separatorId: prm.separatorId });
    this.optimizer = new Optimizer(prm.model);
  }

  async afterStep(
    context: Pick<StepContext, "step" | "rollouts" | "stepEnds" | "stepRewards" | "verified">,
  ): Promise<Record<string, number>> {
    this.collect(context);
    if (context.step % this.settings.every !== 0) return {};
    return this.refresh();
  }

  async save(folder: string): Promise<Json> {
    await saveWeights(this.prm.model, folder);
    await saveOptimizer(this.optimizer, this.prm.model, folder);
    return { refreshes: this.refreshes, pool: this.pool.state() };
  }

  /** Goes on from what `save` wrote. */
  async restore(folder: string, state: Json): Promise<void> {
    const { refreshes, pool } = state as { refreshes: number; pool: Json };
    await loadWeights(this.prm.model, folder);
    await loadOptimizer(this.optimizer, this.prm.model, folder);
    this.pool.restore(pool);
    this.refreshes = refreshes;
  }

  private collect({
    rollouts: { prompts, promptOf, tokens },
    stepEnds,
    stepRewards,
    verified,
  }: Parameters<OnlinePrm["afterStep"]>[0]): void {
    if (stepRewards === undefined) return;
    const part = <T extends Int32Array | Float32Array>(rows: { data: T; offsets: Int32Array }, row: number) =>
      rows.data.subarray(rows.offsets[row], rows.offsets[row + 1]) as T;
    for (const [row, value] of verified.entries()) {
      const rewards = part(stepRewards, row);
      if (Number.isNaN(value) || rewards.length === 0) continue;
      const prompt = prompts[promptOf[row]!]!.ids;
      const ids = Int32Array.of(...prompt, ...part(tokens, row));
      const ends = part(stepEnds, row).map((end) => prompt.length + end);
      for (const end of ends) ids[end] = this.prm.separatorId;
      const isRight = value === 1;
      const labels = relabel(isRight, rewards, this.settings.blame);
      this.pool.add({ ids, ends, labels }, isRight);
    }
  }

  private async refresh(): Promise<Record<string, number>> {
    const { batch, steps, seed, learningRate, maxNorm } = this.settings;
    const half = Math.max(1, batch >> 1);
    const fresh = this.pool.take(half * steps, this.replay.length === 0, seed, this.refreshes);
    let loss = 0;
    let taken = 0;
    for (let from = 0; from < fresh.length; from += 2 * half) {
      const rows = fresh.slice(from, from + 2 * half);
      const replayed = this.replayed(rows.length, this.optimizer.steps);
      loss += await prmGradients(this.prm.model, [...rows, ...replayed], {
        budget: 8192,
        keep: "activations",
      });
      this.optimizer.step({ learningRate, maxNorm });
      taken++;
    }
    this.refreshes++;
    return { "online/solutions": fresh.length, ...(taken === 0 ? {} : { "online/loss": loss / taken }) };
  }

  private replayed(count: number, key: number): EncodedSolution[] {
    const order = shuffled(this.replay.length, this.settings.seed, key).subarray(0, count);
    return Array.from(order, (i) => this.replay[i]!);
  }
}
