import { openCheckpoint } from "../../model/index.ts";
import type { AdaptiveKlController, FixedKlController } from "../../advantage/index.ts";
import type { TrainConfig } from "../config/schema.ts";
import { OrderedSampler, PassRateSampler } from "../curriculum/index.ts";
import type { PromptRow } from "../data/prompts.ts";
import { loadModel } from "../engine/create.ts";
import { longestRow, type TrainableModel } from "../engine/model.ts";
import { Optimizer } from "../engine/optimizer.ts";
import { type GuardRule, DEFAULT_RULES, HackGuard } from "../guard/index.ts";
import { openCodec, type TextCodec } from "../text/codec.ts";
import { definite } from "../config/definite.ts";
import { trainingOf } from "../config/training.ts";
import { atKey } from "./at-key.ts";
import { engineGenerator } from "./generator.ts";
import { klController } from "./kl-controller.ts";
import { openPrompts } from "./prompts.ts";
import { openSources, type Sources } from "./sources.ts";
import type { Generator, Guard, PromptSampler, TrainHooks } from "./types.ts";
import { isVerifiable } from "./verify.ts";

/** @internal A value function: a model of its own, or a head of the policy's. */
export interface Critic {
  readonly model: TrainableModel;
  /** `undefined` for a head of the policy, which the policy's optimizer trains. */
  readonly optimizer: Optimizer | undefined;
}

/** @internal Everything that a run works with. */
export interface Parts {
  readonly config: TrainConfig;
  readonly codec: TextCodec;
  readonly model: TrainableModel;
  readonly optimizer: Optimizer;
  readonly reference: TrainableModel | undefined;
  readonly critic: Critic | undefined;
  readonly generator: Generator;
  readonly sources: Sources;
  readonly sampler: PromptSampler;
  readonly heldOut: readonly PromptRow[];
  /** Whether the answer of a training prompt may be used. */
  readonly known: (id: string) => boolean;
  readonly guard: Guard | undefined;
  readonly stopIds: readonly number[];
  /** Moves. */
  kl: FixedKlController | AdaptiveKlController;
}

/** @internal Loads models and data, and puts hooks in their places. */
export async function openParts(config: TrainConfig, hooks: TrainHooks): Promise<Parts> {
  const { model: settings, rollout, data, kl, seed } = config;
  const usesCritic = config.algorithm.estimator === "gae";
  const isShared = usesCritic && config.critic.model === "shared";
  const { model, codec } = await atKey("model.path", async () => {
    const checkpoint = await openCheckpoint(settings.path);
    const heads = { lm: true, ...(isShared ? { value: true } : {}) };
    return { codec: await openCodec(checkpoint.path), model: await loadModel(checkpoint, { heads, seed }) };
  });
  model.train(trainingOf(settings.training, seed));
  const optimizer = new Optimizer(model);
  const { train: rows, heldOut } = await openPrompts(config, codec, longestRow(model.config), hooks);
  const usual = samplerOf(config, rows);
  const needsReference = kl.place !== "none" || heldOut.length > 0;
  const verifiable = new Set(
    rows.filter((row) => isVerifiable(row, data.verifiableShare)).map(({ id }) => id),
  );
  return {
    config,
    codec,
    model,
    optimizer,
    reference: needsReference ? await openReference(config) : undefined,
    critic: usesCritic ? await openCritic(config, model, isShared) : undefined,
    generator: hooks.generator?.(model, codec) ?? engineGenerator(model, codec, rollout.batch),
    sources: await openSources(config, codec, hooks),
    sampler: hooks.sampler?.(rows, usual) ?? usual,
    heldOut,
    known: (id) => verifiable.has(id),
    guard: hooks.guard ?? guardOf(config),
    stopIds: rollout.stopIds ?? (codec.eosId === undefined ? [] : [codec.eosId]),
    kl: klController(kl, kl.coefficient),
  };
}

async function openReference({ kl, model }: TrainConfig): Promise<TrainableModel> {
  return atKey(kl.reference === undefined ? "model.path" : "kl.reference", async () =>
    loadModel(await openCheckpoint(kl.reference ?? model.path), { heads: { lm: true } }),
  );
}

async function openCritic(
  { critic, model: { path }, seed }: TrainConfig,
  policy: TrainableModel,
  isShared: boolean,
): Promise<Critic> {
  if (isShared) return { model: policy, optimizer: undefined };
  const model = await atKey(critic.path === undefined ? "model.path" : "critic.path", async () =>
    loadModel(await openCheckpoint(critic.path ?? path), { heads: { value: true }, seed }),
  );
  return { model, optimizer: new Optimizer(model) };
}

function samplerOf({ curriculum, data, seed }: TrainConfig, rows: readonly PromptRow[]): PromptSampler {
  const { order, levels, restSolved: solved, restFailed: failed, target, width, floor } = curriculum;
  if (order === "pass-rate") return new PassRateSampler(rows, { seed, target, width, floor });
  return new OrderedSampler(rows, {
    seed,
    shuffle: data.shuffle,
    rest: { solved, failed },
    ...(levels === undefined ? {} : { levels: definite(levels) }),
  });
}

function guardOf({ guard: { enabled, action, rules } }: TrainConfig): Guard | undefined {
  if (!enabled) return undefined;
  return new HackGuard(
    (rules as GuardRule[] | undefined) ?? DEFAULT_RULES.map((rule) => ({ ...rule, action })),
  );
}
