import type { Ragged } from "../../ragged.ts";
import type { PromptRow } from "../data/prompts.ts";
import type { TrainableModel } from "../engine/model.ts";
import type { StepScorer } from "../prm/scorer.ts";
import type { Json } from "../run/folder.ts";
import type { PhaseOptions } from "../run/progress.ts";
import type { MetricSink } from "../sinks/index.ts";
import type { TextCodec } from "../text/codec.ts";
import type { TrainConfig } from "../config/schema.ts";

/** What a {@link Generator} is asked for. */
export interface GenerateRequest {
  readonly prompts: readonly PromptRow[];
  /** Responses per prompt. */
  readonly n: number;
  /** Number of the first response of every prompt: a response depends on seed, prompt and this number. */
  readonly firstSample: number;
  readonly maxTokens: number;
  /** 0 takes the likeliest token. */
  readonly temperature: number;
  readonly topK?: number;
  readonly topP?: number;
  readonly minP?: number;
  readonly stopIds: readonly number[];
  /** Texts that end a response. */
  readonly stop: readonly string[];
  readonly seed: number;
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
  generate(request: GenerateRequest): Promise<GeneratedResponses>;
  /** Takes over the weights of the policy after an update; nothing to do for the engine in this process. */
  sync?(model: TrainableModel): Promise<void>;
  close?(): Promise<void>;
}

/** Responses of one step: row r answers prompt `promptOf[r]`; rows of a prompt are neighbours. */
export interface Rollouts {
  readonly prompts: readonly PromptRow[];
  readonly promptOf: Int32Array;
  readonly tokens: Ragged<Int32Array>;
  readonly logProbs: Ragged<Float32Array>;
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
  readonly rewards: readonly ArrayLike<number>[];
  /** 1 right, 0 wrong, NaN unknown; one per response. */
  readonly verified?: ArrayLike<number>;
}

/** Chooses the prompts of a step. */
export interface PromptSampler {
  next(count: number): PromptRow[];
  /** How many of the samples of a prompt were right, where that is known. */
  report(id: string, passes: number, samples: number): void;
  state(): Json;
  restore(state: Json): void;
}

/** What a guard says about a step. */
export interface GuardVerdict {
  readonly action: "alarm" | "stop" | "rollback";
  /** Metric and numbers. */
  readonly reason: string;
}

/** Watches metrics for reward hacking. */
export interface Guard {
  check(step: number, metrics: Readonly<Record<string, number>>): GuardVerdict | undefined;
  state(): Json;
  restore(state: Json): void;
}

/** What a plugin sees of a step. */
export interface StepContext {
  readonly step: number;
  readonly rollouts: Rollouts;
  /** Token index within the response of each step's last token. */
  readonly stepEnds: Ragged<Int32Array>;
  /** PRM rewards of the steps, where there is a PRM. */
  readonly stepRewards: Ragged<Float32Array> | undefined;
  /** 1 right, 0 wrong, NaN unknown. */
  readonly verified: Float32Array;
  readonly model: TrainableModel;
  readonly codec: TextCodec;
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
  /** In place of the order that the config asks for. */
  readonly sampler?: (rows: readonly PromptRow[]) => PromptSampler;
  readonly guard?: Guard;
  /** Told what is worth a line on a terminal: prompts left out, alarms of the guard. */
  readonly onWarning?: (message: string) => void;
  readonly sinks?: readonly MetricSink[];
  readonly plugins?: readonly TrainPlugin[];
}

/** Options of {@link trainRl}. */
export interface RlOptions extends PhaseOptions {
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
  readonly after: Readonly<Record<string, number>>;
  readonly config: TrainConfig;
}
