import { join } from "node:path";
import { type PrmStage, trainPrm } from "../prm/train.ts";
import { trainRl } from "../rl/loop.ts";
import type { PhaseOptions } from "../run/progress.ts";
import { trainSft } from "../sft/train.ts";
import { EMBEDDED_RECIPE, type Recipe } from "./recipe.ts";

/** Least F1 of a PRM that RL should be done with; below it the rewards are too often wrong. */
export const PRM_GATE = 0.75;

/** Options of {@link runPure}. */
export interface PureOptions extends Omit<PhaseOptions, "resume"> {
  /** Seed of everything. Default 1. */
  readonly seed?: number;
  /** Steps of RL. Default 80. */
  readonly steps?: number;
  /** Configs of the parts. Default: {@link EMBEDDED_RECIPE}. */
  readonly recipe?: Recipe;
  /** Told when a part has ended. */
  readonly onPart?: (part: PurePart) => void;
}

/** A part of the pipeline that has ended. */
export interface PurePart {
  /** Which one. */
  readonly name: "sft" | "prm" | "rl";
  /** Wall-clock seconds that it took in this process. */
  readonly seconds: number;
  /** One line about what it gave. */
  readonly result: string;
}

/** What the pipeline gave. */
export interface PureResult {
  /** Where everything lies. */
  readonly folders: {
    /** Checkpoint of the base model. */
    readonly base: string;
    /** Checkpoint of the PRM. */
    readonly prm: string;
    /** Run of RL. */
    readonly run: string;
    /** Checkpoint of the trained policy. */
    readonly policy: string;
  };
  /** The stages of the PRM with its quality after each. */
  readonly stages: readonly PrmStage[];
  /** Metrics (`eval/...`) on held-out prompts, of the base model. */
  readonly before: Readonly<Record<string, number>>;
  /** The same of the trained policy. */
  readonly after: Readonly<Record<string, number>>;
}

/**
 * The whole of PURE on the embedded task: a base model, a PRM in two stages on its labelled solutions, and RL with
 * process and verifiable rewards. A run that ended early goes on where it stood; one that is done is read again.
 *
 * @throws as {@link trainSft}, {@link trainPrm}, {@link trainRl}
 */
export async function runPure(options: PureOptions): Promise<PureResult> {
  const { folder, seed = 1, steps = 80, recipe = EMBEDDED_RECIPE, onPart, signal, onProgress } = options;
  const phase = (name: string): PhaseOptions => ({
    folder: join(folder, name),
    resume: true,
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined ? {} : { onProgress }),
  });
  const timed = async <T>(name: PurePart["name"], work: () => Promise<T>, say: (result: T) => string) => {
    const began = performance.now();
    const result = await work();
    signal?.throwIfAborted();
    onPart?.({ name, seconds: (performance.now() - began) / 1000, result: say(result) });
    return result;
  };
  const base = await timed(
    "sft",
    () => trainSft(recipe.sft(seed), phase("sft")),
    ({ metrics }) => `loss ${metrics["eval/loss"]?.toFixed(3)} per token on held-out solutions`,
  );
  const { model: prm, stages } = await timed(
    "prm",
    () => trainPrm(recipe.prm(base.model, seed), phase("prm")),
    (result) => result.stages.map(({ name, quality }) => `${name} F1 ${quality?.f1?.toFixed(3)}`).join(", "),
  );
  const rl = await timed(
    "rl",
    () => trainRl(recipe.rl(base.model, prm, seed, steps), phase("rl")),
    ({ after }) => `pass@1 ${after["eval/pass@1/sampled"]?.toFixed(3)} sampled`,
  );
  return {
    folders: { base: base.model, prm, run: join(folder, "rl"), policy: rl.model },
    stages,
    before: rl.before,
    after: rl.after,
  };
}
