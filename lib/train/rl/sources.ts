import { pathToFileURL } from "node:url";
import { InputError } from "../../errors.ts";
import { usesPrm } from "../config/check.ts";
import type { TrainConfig } from "../config/schema.ts";
import type { StepScorer } from "../prm/scorer.ts";
import type { TextCodec } from "../text/codec.ts";
import { atKey } from "./at-key.ts";
import { openStepScorer } from "./prm-scorer.ts";
import type { RewardSources } from "./rewards.ts";
import { StepFinder } from "./steps.ts";
import type { RewardFunction, TrainHooks } from "./types.ts";
import { answerReward } from "./verify.ts";

/** @internal What scores the responses that are trained on, and those to held-out prompts. */
export interface Sources {
  readonly training: RewardSources;
  /** With the PRM also in the modes that do not train on it. */
  readonly evaluation: RewardSources;
}

/** @internal What the reward mode needs, and the PRM wherever there is one, opened. */
export async function openSources(
  config: TrainConfig,
  codec: TextCodec,
  hooks: TrainHooks,
): Promise<Sources> {
  const { reward, rollout } = config;
  const isTrainedOn = usesPrm(config);
  const usesFunction = reward.mode === "function";
  const isScored = isTrainedOn || reward.prm !== undefined;
  const scorer = isScored ? (hooks.scorer ?? (await scorerOf(config, codec))) : undefined;
  const training = {
    codec,
    steps: new StepFinder(codec, reward.separator),
    scorer: isTrainedOn ? scorer : undefined,
    // In mode `prm` answers are looked at for the metrics only.
    answers: usesFunction ? undefined : answerReward(reward),
    own: usesFunction ? (hooks.reward ?? (await functionOf(reward.function))) : undefined,
    failTruncated: rollout.truncated === "fail",
  };
  return { training, evaluation: { ...training, scorer } };
}

async function scorerOf(config: TrainConfig, codec: TextCodec): Promise<StepScorer> {
  const { reward, model } = config;
  if (reward.prm === undefined) {
    throw new InputError(
      "ERR_INPUT",
      `reward.prm: expected a checkpoint folder in mode "${reward.mode}", got none`,
    );
  }
  const { prm, prmEngine: engine } = reward;
  return atKey("reward.prm", () => openStepScorer(prm, { engine, policy: model.path, codec }));
}

async function functionOf(name: string | undefined): Promise<RewardFunction> {
  if (name === undefined) {
    throw new InputError(
      "ERR_INPUT",
      'reward.function: expected a name or a module in mode "function", got none',
    );
  }
  let module: { default?: unknown };
  try {
    module = (await import(pathToFileURL(name).href)) as { default?: unknown };
  } catch (cause) {
    const hint = name.includes("/") ? "" : " (built in: digits)";
    throw new InputError("ERR_INPUT", `reward.function: ${name}: ${(cause as Error).message}${hint}`, {
      cause,
    });
  }
  if (typeof module.default === "function") return module.default as RewardFunction;
  throw new InputError(
    "ERR_INPUT",
    `reward.function: ${name}: expected a function as default export, got ${typeof module.default}`,
  );
}
