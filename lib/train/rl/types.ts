import type { Ragged } from "../../ragged.ts";
import type { PromptRow } from "../data/prompts.ts";
import type { TrainableModel } from "../engine/model.ts";
import type { GuardAction } from "../guard/rules.ts";
import type { StepScorer } from "../prm/scorer.ts";
import type { Json } from "../run/folder.ts";
import type { PhaseOptions } from "../run/progress.ts";
import type { MetricSink } from "../sinks/index.ts";
import type { TextCodec } from "../text/codec.ts";
import type { TrainConfig } from "../config/schema.ts";

/** What a {@link Generator} is asked for. */
export interface GenerateRequest {
  /** In the order of the result. */
  readonly prompts: readonly PromptRow[];
  /** Responses per prompt. */
  readonly n: number;
  /** Number of the first response of every prompt: a response depends on seed, prompt and this number. */
  readonly firstSample: number;
  /** Tokens to write at most, per response. */
  readonly maxTokens: number;
  /** 0 takes the likeliest token. */
  readonly temperature: number;
  /** Draw among so many of the likeliest tokens; 0 or absent for all. */
  readonly topK?: number;
  /** Draw among the likeliest tokens that together have this probability; in (0, 1]. */
  readonly topP?: number;
  /** Draw among tokens with at least this share of the likeliest one's probability; in [0, 1]. */
  readonly minP?: number;
  /** Tokens that end a response. */
  readonly stopIds: readonly number[];
  /** Texts that end a response. */
  readonly stop: readonly string[];
  /** An integer >= 0. */
  readonly seed: number;
  /** Ends the generation. */
  readonly signal?: AbortSignal;
}

/** What a {@link Generator} gives: prompt by prompt, sample by sample. */
export interface GeneratedResponses {
  /** Response tokens, the stop included. */
  readonly tokens: Ragged<Int32Array>;
  /** Log-prob of every token under the whole distribution at the temperature. */
  readonly logProbs: Ragged<Float32Array>;
  /** Per response: 1 when it ended by itself, 0 when `maxTokens` cut it. */
  readonly stopped: Uint8Array;
}

/** Draws responses. */
export interface Generator {
  /** The log-probs are those of the training engine to the bit, so that they need not be computed again. */
  readonly exact: boolean;
  /** Responses to the prompts of a request, `n` for each. */
  generate(request: GenerateRequest): Promise<GeneratedResponses>;
  /** Takes over the weights of the policy after an update; nothing to do for the engine in this process. */
  sync?(model: TrainableModel): Promise<void>;
  /** Frees what it holds. */
  close?(): Promise<void>;
}

/** Responses of one step: row r answers prompt `promptOf[r]`; rows of a prompt are neighbours. */
export interface Rollouts {
  /** The prompts of the step. */
  readonly prompts: readonly PromptRow[];
  /** Per row, the index of its prompt. */
  readonly promptOf: Int32Array;
  /** Response tokens. */
  readonly tokens: Ragged<Int32Array>;
  /** Log-prob of every token under the policy that drew it. */
  readonly logProbs: Ragged<Float32Array>;
  /** Per row: 1 when it ended by itself, 0 when it was cut. */
  readonly stopped: Uint8Array;
  /** The responses as text. */
  readonly texts: readonly string[];
}

/**
 * A reward of one's own: per response, one reward per token (an array of one number is the reward of the last token), and
 * where it makes sense whether the response is right.
 */
export type RewardFunction = (
  rollouts: Rollouts,
  options: { readonly codec: TextCodec; readonly signal?: AbortSignal },
) => RewardFunctionResult | Promise<RewardFunctionResult>;

/** Of a {@link RewardFunction}. */
export interface RewardFunctionResult {
  /** One list per response: a reward per token, or one number for the last token. */
  readonly rewards: readonly ArrayLike<number>[];
  /** 1 right, 0 wrong, NaN unknown; one per response. */
  readonly verified?: ArrayLike<number>;
}

/** Chooses the prompts of a step. */
export interface PromptSampler {
  /** The prompts of the next step. */
  next(count: number): PromptRow[];
  /** How many of the samples of a prompt were right, where that is known. */
  report(id: string, passes: number, samples: number): void;
  /** What a checkpoint keeps. */
  state(): Json;
  /** Goes on from a state. */
  restore(state: Json): void;
}

/** What a guard says about a step. */
export interface GuardVerdict {
  /** What is to be done: tell, end the run, or end it with the last checkpoint's policy. */
  readonly action: GuardAction;
  /** Metric and numbers. */
  readonly reason: string;
}

/** Watches metrics for reward hacking. */
export interface Guard {
  /** Looks at the metrics of a step; `undefined` when all is well. */
  check(step: number, metrics: Readonly<Record<string, number>>): GuardVerdict | undefined;
  /** What a checkpoint keeps. */
  state(): Json;
  /** Goes on from a state. */
  restore(state: Json): void;
}

/** What a plugin sees of a step. */
export interface StepContext {
  /** Number of the step, from 1. */
  readonly step: number;
  /** What was drawn. */
  readonly rollouts: Rollouts;
  /** Token index within the response of each step's last token. */
  readonly stepEnds: Ragged<Int32Array>;
  /** PRM rewards of the steps, where there is a PRM. */
  readonly stepRewards: Ragged<Float32Array> | undefined;
  /** 1 right, 0 wrong, NaN unknown. */
  readonly verified: Float32Array;
  /** The policy after the step. */
  readonly model: TrainableModel;
  /** Its vocabulary. */
  readonly codec: TextCodec;
  /** Ends the run. */
  readonly signal: AbortSignal | undefined;
}

/** Something that runs after every step and lives in the checkpoint, e.g. an online PRM. */
export interface TrainPlugin {
  /** Names its state and its folder in the checkpoint. */
  readonly name: string;
  /** @returns metrics of its own */
  afterStep(context: StepContext): Promise<Record<string, number>>;
  /** Saves into an existing folder; what it returns goes into the checkpoint's state. */
  save(folder: string): Promise<Json>;
  /** Goes on from what `save` wrote. */
  restore(folder: string, state: Json): Promise<void>;
}

/** Parts of the trainer that can be replaced or added. */
export interface TrainHooks {
  /** In place of the engine in this process. */
  readonly generator?: (model: TrainableModel, codec: TextCodec) => Generator;
  /** In place of the PRM that the config names. */
  readonly scorer?: StepScorer;
  /** In place of the function that the config names. */
  readonly reward?: RewardFunction;
  /** In place of the order that the config asks for, which `usual` has. */
  readonly sampler?: (rows: readonly PromptRow[], usual: PromptSampler) => PromptSampler;
  /** In place of the guard that the config asks for. */
  readonly guard?: Guard;
  /** Told what is worth a line on a terminal: prompts left out, alarms of the guard, signs that nothing can be learnt. */
  readonly onWarning?: (message: string) => void;
  /** Where metrics go besides metrics.jsonl. */
  readonly sinks?: readonly MetricSink[];
  /** What runs after every step. */
  readonly plugins?: readonly TrainPlugin[];
}

/** Options of {@link trainRl}. */
export interface RlOptions extends PhaseOptions {
  /** Parts of one's own. */
  readonly hooks?: TrainHooks;
}

/** What {@link trainRl} gives. */
export interface RlResult {
  /** Steps done. */
  readonly step: number;
  /** Why it ended. */
  readonly ended: "done" | "interrupted" | "guard";
  /** Checkpoint folder of the trained policy. */
  readonly model: string;
  /** Metrics of the first and of the last evaluation (`eval/...`); empty without held-out prompts. */
  readonly before: Readonly<Record<string, number>>;
  /** Of the last evaluation. */
  readonly after: Readonly<Record<string, number>>;
  /** The config with every default filled in. */
  readonly config: TrainConfig;
}
