import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  arithmeticRollouts,
  decodeTokens,
  DEFAULT_POLICIES,
  drawProblem,
  encodeTokens,
  EOS,
  type Habits,
  labelSteps,
  movesAt,
  noisyLabelRewards,
  PLAIN_HABITS,
  type Problem,
  promptOf,
  randomStream,
  sampleSolution,
  solutionLogProbs,
  TOKENS,
} from "../../lib/train/index.ts";
import { seeded } from "../support/generators.ts";

const PROBLEM: Problem = {
  first: 4,
  terms: [
    { sign: "-", digit: 3 },
    { sign: "+", digit: 1 },
    { sign: "+", digit: 3 },
  ],
  answer: 5,
};

const seeds = fc.integer({ min: 0, max: 1e6 });
const share = fc.integer({ min: 0, max: 300 }).map((thousandths) => thousandths / 1000);
const habits: fc.Arbitrary<Habits> = fc.record({
  restate: share,
  falseRestate: share,
  fencepostPlus: share,
  fencepostMinus: share,
  slip: share,
  skip: share,
  miscopy: share,
  wrongBox: share,
});

describe("the task", () => {
  it("has 19 tokens, and text survives them", () => {
    expect(TOKENS).toHaveLength(19);
    const text = "4-3+1+3=4-3=1\n\n1+1=2\n\n\\boxed{5}";
    expect(decodeTokens(encodeTokens(text))).toBe(text);
    expect(() => encodeTokens("4*3")).toThrow(/text: expected digits.*got "\*3"/);
  });

  it("draws problems of 2 to 4 terms whose running totals are digits", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const problem = drawProblem(randomStream(seed));
        expect([2, 3, 4]).toContain(problem.terms.length);
        let total = problem.first;
        for (const { sign, digit } of problem.terms) {
          total += sign === "+" ? digit : -digit;
          expect(total).toBeGreaterThanOrEqual(0);
          expect(total).toBeLessThanOrEqual(9);
        }
        expect(problem.answer).toBe(total);
      }),
      seeded,
    );
    expect(promptOf(PROBLEM)).toBe("4-3+1+3=");
  });

  it("labels each step by itself", () => {
    const label = (...steps: string[]) => labelSteps(PROBLEM, steps).map(({ good }) => good);
    expect(label("4-3=1", "1+1=2", "2+3=5", "\\boxed{5}")).toEqual([true, true, true, true]);
    expect(label("4=4", "4-3=1", "1=1", "1+1=2", "2=3")).toEqual([true, true, true, true, false]);
    expect(label("4-3=2", "2+1=3", "3+3=6", "\\boxed{6}")).toEqual([false, true, true, false]);
    expect(label("4+1=5", "5+3=8", "\\boxed{5}")).toEqual([false, true, false]);
    expect(label("4-3=1", "2+1=3", "1+3")).toEqual([true, false, false]);
    expect(label("4-3=1", "1+1=2", "\\boxed{5}")).toEqual([true, true, false]);
  });
});

describe("a hand-made policy", () => {
  it("spreads a probability of 1 over different steps, everywhere", () => {
    fc.assert(
      fc.property(seeds, habits, fc.nat(9), fc.nat(4), (seed, mix, total, term) => {
        const problem = drawProblem(randomStream(seed));
        const position = { total, term: Math.min(term, problem.terms.length), done: false };
        const moves = movesAt(problem, position, mix);
        expect(moves.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1, 12);
        expect(new Set(moves.map(({ tokens }) => decodeTokens(tokens))).size).toBe(moves.length);
      }),
      seeded,
    );
  });

  it("the log-probs of a step's tokens add up to that of the step", () => {
    fc.assert(
      fc.property(seeds, habits, (seed, mix) => {
        const problem = drawProblem(randomStream(seed));
        const start = { total: problem.first, term: 0, done: false };
        for (const { tokens, probability } of movesAt(problem, start, mix)) {
          const logProbs = solutionLogProbs(problem, mix, tokens);
          expect(logProbs.reduce((sum, logProb) => sum + logProb, 0)).toBeCloseTo(Math.log(probability), 9);
          expect(Math.max(...logProbs)).toBeLessThanOrEqual(0);
        }
      }),
      { ...seeded, numRuns: 5 },
    );
  });

  it("reports, while it samples, the log-probs that it has", () => {
    fc.assert(
      fc.property(seeds, habits, fc.integer({ min: 1, max: 60 }), (seed, mix, longest) => {
        const problem = drawProblem(randomStream(seed));
        const { tokens, logProbs } = sampleSolution(problem, mix, randomStream(seed, 1), longest);
        expect(tokens.length).toBeLessThanOrEqual(longest);
        expect(tokens.at(-1) === EOS || tokens.length === longest).toBe(true);
        expect(solutionLogProbs(problem, mix, tokens)).toEqual(logProbs);
      }),
      seeded,
    );
  });

  it("samples first tokens as often as their log-probs say", () => {
    const mix = { ...PLAIN_HABITS, miscopy: 0.6 };
    const random = randomStream(7);
    const draws = 2000;
    const counts = new Map<number, number>();
    for (let i = 0; i < draws; i++) {
      const first = sampleSolution(PROBLEM, mix, random, 1).tokens[0]!;
      counts.set(first, (counts.get(first) ?? 0) + 1);
    }
    expect(counts.size).toBe(10);
    for (const [token, count] of counts) {
      const p = Math.exp(solutionLogProbs(PROBLEM, mix, [token])[0]!);
      // Five standard deviations.
      expect(Math.abs(count / draws - p)).toBeLessThan(5 * Math.sqrt((p * (1 - p)) / draws));
    }
  });

  it("gives what it never writes no probability", () => {
    const never = solutionLogProbs(PROBLEM, { ...PLAIN_HABITS, restate: 0 }, encodeTokens("4=4\n\n"));
    expect(never).toContain(Number.NEGATIVE_INFINITY);
  });
});

describe("embedded rollouts", () => {
  const rollouts = [...arithmeticRollouts({ prompts: 40, seed: 3 })];

  it("are the same for the same seed, and those of a problem do not depend on how many there are", () => {
    expect([...arithmeticRollouts({ prompts: 3, seed: 3 })]).toEqual(rollouts.slice(0, 24));
    expect([...arithmeticRollouts({ prompts: 3, seed: 4 })]).not.toEqual(rollouts.slice(0, 24));
  });

  it("hold right and wrong answers and steps alike", () => {
    const right = rollouts.filter((rollout) => rollout.final_answer_correct).length / rollouts.length;
    expect(right).toBeGreaterThan(0.2);
    expect(right).toBeLessThan(0.7);
    const sound = rollouts.filter((rollout) => rollout.first_error === -1);
    expect(sound.length).toBeGreaterThan(20);
    expect(sound.every(({ step_rewards }) => step_rewards.every((reward) => reward > 0))).toBe(true);
  });

  it("spell their steps with their tokens", () => {
    for (const { steps, token_ids, step_ends } of rollouts) {
      expect(decodeTokens(token_ids).trimEnd()).toBe(steps.join("\n\n"));
      expect(step_ends.at(-1)).toBe(token_ids.length - 1);
      expect(step_ends).toHaveLength(steps.length);
    }
  });

  it("have the log-probs of two policies that differ a little", () => {
    const ratios = rollouts.flatMap(({ log_probs, old_log_probs }) =>
      log_probs.map((p, t) => Math.exp(p - old_log_probs[t]!)),
    );
    expect(Math.max(...ratios)).toBeGreaterThan(1.2);
    expect(Math.max(...ratios)).toBeLessThan(2);
    expect(Math.min(...ratios)).toBeGreaterThan(0.5);
    // Over samples of the old policy the ratio is 1 in expectation.
    expect(Math.abs(ratios.reduce((a, b) => a + b, 0) / ratios.length - 1)).toBeLessThan(0.01);
  });

  it("are longer under the policy that restates more", () => {
    const [plain, padding] = DEFAULT_POLICIES.map(({ name }) => {
      const rows = rollouts.filter((rollout) => rollout.generator === name);
      return rows.reduce((sum, row) => sum + row.steps.length, 0) / rows.length;
    }) as [number, number];
    expect(padding).toBeGreaterThan(plain + 1.5);
  });

  it("have rewards that are labels with bounded noise", () => {
    const good = Array.from({ length: 1000 }, (_, i) => i % 2 === 0);
    const rewards = noisyLabelRewards(good, randomStream(1));
    for (const [i, reward] of rewards.entries()) {
      expect(Math.abs(reward - (good[i] ? 0.8 : -0.8))).toBeLessThanOrEqual(0.2);
    }
    expect(new Set(rewards).size).toBeGreaterThan(990);
  });

  it("come from streams of numbers in [0, 1) that differ by key and look even", () => {
    const mean = (...key: number[]) => {
      const random = randomStream(...key);
      const values = Array.from({ length: 2000 }, random);
      expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
      return values.reduce((a, b) => a + b, 0) / values.length;
    };
    const means = [mean(1), mean(2), mean(1, 0), mean(0, 1)];
    expect(new Set(means).size).toBe(4);
    for (const value of means) expect(Math.abs(value - 0.5)).toBeLessThan(0.035);
  });
});
