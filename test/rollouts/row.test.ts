import { describe, expect, it } from "vitest";
import { parseRollout } from "../../lib/rollouts/row.ts";
import { rowOf } from "../support/rollouts.ts";

const parse = (more: object) => parseRollout(JSON.stringify(rowOf(more)));
const tokens = {
  token_ids: [5, 6, 7],
  step_ends: [0, 2],
  log_probs: [-1, -2, 0],
  old_log_probs: [-1, -1, -1],
};

describe("a row of rollouts", () => {
  it("needs a group, steps and a reward per step, and takes null for what is not known", () => {
    expect(parse({})).toEqual({ group: "g", steps: ["a", "b"], stepRewards: [0.5, -0.25] });
    expect(parse({ first_error: null, final_answer_correct: null, generator: null })).toEqual(parse({}));
    expect(parse({ group: 7, id: 8, answer: 73, first_error: -1 })).toMatchObject({
      group: "7",
      id: "8",
      answer: "73",
      firstError: -1,
    });
  });

  it("takes tokens with their step ends and log-probs", () => {
    expect(parse(tokens).tokens).toEqual({
      ids: [5, 6, 7],
      stepEnds: [0, 2],
      logProbs: [-1, -2, 0],
      oldLogProbs: [-1, -1, -1],
    });
    expect(parse({ ...tokens, ref_log_probs: [0, 0, 0] }).tokens?.refLogProbs).toEqual([0, 0, 0]);
  });

  it("takes a solution without steps", () => {
    expect(parse({ steps: [], step_rewards: [] })).toMatchObject({ steps: [], stepRewards: [] });
  });

  it.each([
    ["{", /not JSON/],
    ['{"group": "g", "steps": ["a"], "step_rewards": [NaN]}', /not JSON/],
    ["[1]", /expected an object, got a list of 1/],
    ["null", /expected an object, got null/],
    ['{"group": "g", "steps": ["a"], "step_rewards": [1e999]}', /step_rewards\[0\]: expected finite numbers/],
  ])("rejects %s", (line, message) => {
    expect(() => parseRollout(line)).toThrow(message);
  });

  it.each([
    [{ group: undefined }, /group: expected a non-empty string or an integer, got nothing/],
    [{ group: "" }, /group: /],
    [{ group: 1.5 }, /group: /],
    [{ id: {} }, /id: expected .*, got an object/],
    [{ steps: "a" }, /steps: expected a list of strings, got "a"/],
    [{ steps: ["a", 2] }, /steps\[1\]: expected strings, got 2/],
    [{ step_rewards: [1] }, /step_rewards: expected 2 numbers, one per step, got 1/],
    [{ step_rewards: [1, "NaN"] }, /step_rewards\[1\]: expected finite numbers, got "NaN"/],
    [{ step_rewards: [1, null] }, /step_rewards\[1\]: expected finite numbers, got null/],
    [{ step_rewards: undefined }, /step_rewards: expected a list/],
    [{ first_error: 2 }, /first_error: expected -1 or the index of a step \(0 to 1\), got 2/],
    [{ first_error: -2 }, /first_error/],
    [{ first_error: 0.5 }, /first_error: expected an integer/],
    [{ final_answer_correct: 1 }, /final_answer_correct: expected true or false, got 1/],
    [{ question: ["x".repeat(1000)] }, /question: expected a string/],
    [{ ...tokens, token_ids: undefined }, /token_ids: expected a list/],
    [{ ...tokens, token_ids: [5, -6, 7] }, /token_ids\[1\]/],
    [{ ...tokens, step_ends: undefined }, /step_ends: expected a list/],
    [{ ...tokens, step_ends: [0] }, /step_ends: expected 2 numbers, one per step, got 1/],
    [{ ...tokens, step_ends: [2, 2] }, /step_ends\[1\]: expected a token index in \(2, 3\), got 2/],
    [{ ...tokens, step_ends: [0, 3] }, /step_ends\[1\]: expected a token index in \(0, 3\), got 3/],
    [
      { ...tokens, step_ends: [0, 1] },
      /step_ends: expected the last step to end at the last token, 2, got 1/,
    ],
    [{ ...tokens, log_probs: [-1] }, /log_probs: expected 3 numbers, one per token, got 1/],
    [{ ...tokens, old_log_probs: undefined }, /log_probs and old_log_probs: expected both or neither/],
    [
      { token_ids: [5, 6, 7], step_ends: [0, 2], ref_log_probs: [0, 0, 0] },
      /ref_log_probs: expected log_probs/,
    ],
  ])("rejects %j", (more, message) => {
    expect(() => parse(more)).toThrow(message);
  });

  it("cuts a long value in its message", () => {
    expect(() => parse({ final_answer_correct: "x".repeat(10_000) })).toThrow(/^.{0,100}$/);
  });
});
