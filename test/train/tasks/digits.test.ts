import { describe, expect, test } from "vitest";
import { joinRows } from "../../../lib/train/batches.ts";
import type { PromptRow } from "../../../lib/train/data/prompts.ts";
import {
  completeDigits,
  digitReward,
  parseDigitPrompt,
  scoreDigits,
} from "../../../lib/train/tasks/digits.ts";
import type { TextCodec } from "../../../lib/train/text/codec.ts";

const CHARACTERS = "0123456789,:";
const EOS = 1;
const encode = (text: string) =>
  Array.from(text, (character) => (character === "$" ? EOS : 4 + CHARACTERS.indexOf(character)));
const codec: TextCodec = { encode, decode: () => "", eosId: EOS };

test.each([
  ["7,8:20,0", ""],
  ["9,10:20,2", "11,12"],
  ["8,3:9,4", "7,2,6,1"],
  ["0,9:9,3", "0,0,0"],
  ["1,1:9,2", "1,1"],
  ["18,19:20,3", "0,1,2"],
])("%s is completed by %s", (prompt, answer) => {
  expect(completeDigits(parseDigitPrompt(prompt))).toBe(answer);
});

test.each(["1,2:9", "1,2:0,3", "a,b:9,1", " 1,2:9,1"])("%j is no prompt", (text) => {
  expect(() => parseDigitPrompt(text)).toThrow("expected a prompt like 3,5:9,4");
});

describe("reward", () => {
  // With "11,12", a share is 1/6. $ ends the text.
  test.each<[answer: string, response: string, sixths: number[], end: number | undefined, isRight: boolean]>([
    ["11,12", "11,12$", [1, 1, 1, 1, 1, 1], 6, true],
    ["11,12", "11,12", [1, 1, 1, 1, 1], undefined, false],
    ["11,12", "11,13$", [1, 1, 1, 1, 0, 0], 5, false],
    ["11,12", "11$", [1, 1, 1], 3, false],
    ["11,12", "$", [0], 1, false],
    ["11,12", "21,12$", [0, 0, 0, 0, 0, 0], 1, false],
    ["11,12", "11,12,$", [1, 1, 1, 1, 1, 0, 0], 6, false],
    ["11,12", "11$12", [1, 1, 1, 0, 0], 3, false],
  ])("%s answered by %s", (answer, response, sixths, end, isRight) => {
    const score = scoreDigits(encode(answer), Int32Array.from(encode(response)), EOS);
    expect([...score.rewards]).toEqual(sixths.map((one) => Math.fround(one / 6)));
    expect(score).toMatchObject({ end, isRight });
  });

  test("the empty answer", () => {
    expect(scoreDigits([], Int32Array.of(EOS), EOS)).toEqual({
      rewards: Float32Array.of(1),
      end: 1,
      isRight: true,
    });
    expect([...scoreDigits([], Int32Array.from(encode("7$")), EOS).rewards]).toEqual([0, 0]);
  });

  test("as the reward function of a run: per token, with who is right", async () => {
    const prompts = ["7,8:20,0", "8,3:9,2"].map(
      (text, i): PromptRow => ({ id: `${i}`, text, ids: Int32Array.from(encode(text)), answer: null }),
    );
    const tokens = joinRows(["$", "7$", "7,2$", "7,$"].map((text) => Int32Array.from(encode(text))));
    const { rewards, verified } = await digitReward(
      {
        prompts,
        promptOf: Int32Array.of(0, 0, 1, 1),
        tokens,
        logProbs: { data: new Float32Array(tokens.data.length), offsets: tokens.offsets },
        stopped: new Uint8Array(4).fill(1),
        texts: ["", "7", "7,2", "7,"],
      },
      { codec },
    );
    expect(rewards.map((one) => Array.from(one))).toEqual([
      [1],
      [0, 0],
      [0.25, 0.25, 0.25, 0.25],
      [0.25, 0.25, 0.25],
    ]);
    expect(Array.from(verified!)).toEqual([1, 0, 1, 0]);
  });
});
