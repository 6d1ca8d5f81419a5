import { InputError } from "../../errors.ts";
import type { RewardFunction } from "../rl/types.ts";

/** A prompt `first,second:modulus,count` of the digit task. */
export interface DigitPrompt {
  /** The first number of the sequence. */
  readonly first: number;
  /** The second one. */
  readonly second: number;
  /** Numbers are taken modulo this. */
  readonly modulus: number;
  /** Numbers to write. */
  readonly count: number;
}

/**
 * Reads a prompt of the digit task.
 *
 * @throws {@link InputError} `ERR_INPUT` for anything else
 */
export function parseDigitPrompt(text: string): DigitPrompt {
  const found = /^(\d+),(\d+):(\d+),(\d+)$/.exec(text);
  const [first, second, modulus, count] = (found ?? []).slice(1).map(Number);
  if (modulus === undefined || modulus === 0) {
    throw new InputError(
      "ERR_INPUT",
      `expected a prompt like 3,5:9,4 (modulus > 0), got ${JSON.stringify(text)}`,
    );
  }
  return { first: first!, second: second!, modulus, count: count! };
}

/** The next `count` numbers of first, second, ... modulo `modulus`, separated by commas. */
export function completeDigits({ first, second, modulus, count }: DigitPrompt): string {
  const step = second - first;
  const numbers = Array.from({ length: count }, (_, i) => second + (i + 1) * step);
  return numbers.map((number) => ((number % modulus) + modulus) % modulus).join(",");
}

/** What a response is worth. */
export interface DigitScore {
  /** One per token. */
  readonly rewards: Float32Array;
  /** Tokens up to the end of the episode, it included: nothing after them changes a reward. `undefined`: it goes on. */
  readonly end: number | undefined;
  /** The answer and the end of the text, and nothing else. */
  readonly isRight: boolean;
}

/**
 * The dense reward of the digit task: with L characters of the right answer, 1 / (L + 1) for every token that continues it,
 * up to the first that does not. The token that ends the text gets what the token before it got; as the first token it
 * gets 1 if the right answer is empty, else 0. A perfect response sums to 1.
 *
 * The rule for the last token makes stopping after any right character worth as much as that character.
 *
 * Source: verl's end-to-end test, `digit_completion`.
 *
 * @param answer - ids of the right answer
 * @param tokens - ids of the response
 * @param eosId - the id that ends a text
 */
export function scoreDigits(answer: ArrayLike<number>, tokens: Int32Array, eosId: number): DigitScore {
  const rewards = new Float32Array(tokens.length);
  const share = 1 / (answer.length + 1);
  for (const [i, token] of tokens.entries()) {
    if (token === eosId) {
      // The tokens before have all been right, or this would not be reached.
      rewards[i] = i > 0 ? share : answer.length === 0 ? 1 : 0;
      return { rewards, end: i + 1, isRight: i === answer.length };
    }
    if (i >= answer.length || token !== answer[i]) return { rewards, end: i + 1, isRight: false };
    rewards[i] = share;
  }
  return { rewards, end: undefined, isRight: false };
}

/**
 * {@link scoreDigits} as the reward of a run: `reward: { mode: function, function: digits }`. A response counts as right
 * when it is perfect.
 */
export const digitReward: RewardFunction = ({ prompts, promptOf, tokens }, { codec }) => {
  if (codec.eosId === undefined)
    throw new InputError("ERR_INPUT", "digit task: expected a tokenizer with an end of text, got none");
  const { eosId } = codec;
  const answers = prompts.map(({ text }) => codec.encode(completeDigits(parseDigitPrompt(text))));
  const scores = Array.from(promptOf, (prompt, row) =>
    scoreDigits(answers[prompt]!, tokens.data.subarray(tokens.offsets[row], tokens.offsets[row + 1]), eosId),
  );
  return {
    rewards: scores.map(({ rewards }) => rewards),
    verified: scores.map(({ isRight }) => (isRight ? 1 : 0)),
  };
};
