import { GrowingLength, type GrowingLengthOptions } from "../curriculum/index.ts";
import type { PromptRow } from "../data/prompts.ts";
import { engineGenerator } from "../rl/generator.ts";
import type { RewardFunction, TrainHooks, TrainPlugin } from "../rl/types.ts";
import type { TextCodec } from "../text/codec.ts";
import { completeDigits, digitReward, parseDigitPrompt, scoreDigits } from "./digits.ts";
import { endEpisodes } from "./episode.ts";

/** Options of {@link digitHooks}. */
export interface DigitOptions {
  /** Responses are short at first. Default: as long as the config allows from the start. */
  readonly grow?: GrowingLengthOptions;
  /**
   * In training every right character counts 1, not 1 / (L + 1): prompts with long answers then weigh as much as others.
   * What is best for a prompt stays best. Evaluations keep the task's own reward. Default false.
   */
  readonly equalCharacters?: boolean;
  /** Responses end at the first wrong character, as nothing after it changes a reward. Default true. */
  readonly endAtMismatch?: boolean;
  /** Responses written at a time, as `rollout.batch`. */
  readonly batch?: number;
}

/**
 * Parts of a run on verl's digit task: reward, the end of episodes, the curriculum by length, and the metric
 * `digits/reward/mean`: the task's own reward of the responses of a step, whatever was trained on.
 */
export function digitHooks(options: DigitOptions = {}): TrainHooks {
  const { grow, equalCharacters = false, endAtMismatch = true, batch } = options;
  const training = new Set<PromptRow>();
  const length = grow && new GrowingLength(grow);
  return {
    sampler(rows, usual) {
      for (const row of rows) training.add(row);
      return usual;
    },
    reward: equalCharacters ? equalised((row) => training.has(row)) : digitReward,
    generator(model, codec) {
      const whole = engineGenerator(model, codec, batch);
      const limited = length?.limit(whole, ({ prompts }) => training.has(prompts[0]!)) ?? whole;
      return endAtMismatch ? endEpisodes(limited, (row, tokens) => endOf(row, tokens, codec)) : limited;
    },
    plugins: [ownReward, ...(length === undefined ? [] : [length])],
  };
}

function endOf({ text }: PromptRow, tokens: Int32Array, codec: TextCodec): number | undefined {
  return scoreDigits(codec.encode(completeDigits(parseDigitPrompt(text))), tokens, codec.eosId!).end;
}

// The reward of a training prompt times L + 1.
function equalised(isTraining: (row: PromptRow) => boolean): RewardFunction {
  return async (rollouts, options) => {
    const result = await digitReward(rollouts, options);
    const factors = rollouts.prompts.map((row) =>
      isTraining(row) ? completeDigits(parseDigitPrompt(row.text)).length + 1 : 1,
    );
    return {
      ...result,
      rewards: result.rewards.map((values, row) =>
        Float32Array.from(values, (value) => value * factors[rollouts.promptOf[row]!]!),
      ),
    };
  };
}

const ownReward: TrainPlugin = {
  name: "digit-reward",
  async afterStep({ rollouts, codec }) {
    const { rewards } = await digitReward(rollouts, { codec });
    const sum = rewards.reduce((total, values) => total + Array.from(values).reduce((a, b) => a + b, 0), 0);
    return { "digits/reward/mean": sum / rewards.length };
  },
  save: async () => null,
  restore: async () => {},
};
