import { InputError } from "../../errors.ts";
import type { TrainConfig } from "../config/schema.ts";
import { OnlinePrm } from "../online/index.ts";
import { openScorer } from "../prm/scorer.ts";
import { digitHooks } from "../tasks/index.ts";
import { definite } from "../config/definite.ts";
import { atKey } from "./at-key.ts";
import type { TrainHooks } from "./types.ts";

/** @internal The hooks that a config asks for; those that are given come first, and plugins add up. */
export async function configHooks(config: TrainConfig, given: TrainHooks): Promise<TrainHooks> {
  const asked = [digitsOf(config), await onlineOf(config)];
  const plugins = [...asked.flatMap((hooks) => hooks.plugins ?? []), ...(given.plugins ?? [])];
  return Object.assign({}, ...asked, given, { plugins });
}

function digitsOf({ reward, rollout, digits }: TrainConfig): TrainHooks {
  if (reward.mode !== "function" || reward.function !== "digits") return {};
  const { grow, equalCharacters, endAtMismatch } = digits;
  return digitHooks({
    batch: rollout.batch,
    equalCharacters,
    endAtMismatch,
    ...(grow === undefined ? {} : { grow: definite(grow) }),
  });
}

async function onlineOf({ online, reward, seed }: TrainConfig): Promise<TrainHooks> {
  const { enabled, ...options } = online;
  if (!enabled) return {};
  if (reward.prm === undefined) {
    throw new InputError(
      "ERR_INPUT",
      "reward.prm: expected a checkpoint folder for online.enabled, got none",
    );
  }
  const { prm } = reward;
  const plugin = new OnlinePrm(await atKey("reward.prm", () => openScorer(prm)), { ...options, seed });
  return { scorer: plugin.scorer, plugins: [plugin] };
}
