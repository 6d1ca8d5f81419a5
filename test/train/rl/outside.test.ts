// Responses and rewards from outside are checked where they come in, in training and in evaluation: nothing is learnt from nonsense.
import { join } from "node:path";
import { expect, it } from "vitest";
import { type RewardFunction, trainRl, type TrainHooks } from "../../../lib/train/rl/index.ts";
import type { Ragged } from "../../../lib/ragged.ts";
import { temporaryFolder } from "../../support/checkpoint.ts";
import { rejection } from "../../support/errors.ts";
import { digits, freshPolicy, parityScorer, tiny } from "./support.ts";

const root = await temporaryFolder();
const base = await freshPolicy(root);
let runs = 0;

async function faultOf(mode: string, hooks: TrainHooks, before: boolean) {
  const config = tiny(base, { steps: 1, reward: { mode }, eval: { before, every: 0 } });
  const error = await rejection(() => trainRl(config, { folder: join(root, `run-${runs++}`), hooks }));
  return `${error.code} ${error.message}`;
}

const AT = [
  [true, "step 0"],
  [false, "step 1"],
] as const;

const scorers: [name: string, change: (rewards: Ragged<Float32Array>) => unknown, message: RegExp][] = [
  ["nothing", () => undefined, /ERR_ARGUMENT_TYPE .*: scorer: expected a ragged array/],
  [
    "one reward too few",
    ({ data, offsets }) => ({
      data: data.subarray(1),
      offsets: offsets.map((offset) => Math.max(0, offset - 1)),
    }),
    /ERR_SHAPE .*: scorer: expected row 0 to have the \d+ elements of the steps, got \d+/,
  ],
  [
    "NaN",
    ({ data, offsets }) => ({ data: data.fill(Number.NaN, 0, 1), offsets }),
    /ERR_NOT_FINITE .*: scorer: expected a finite reward for step 0 of response 0, got NaN/,
  ],
];

it.each(
  scorers.flatMap(([name, ...more]) => AT.map(([before, step]) => [name, step, before, ...more] as const)),
)("a scorer that gives %s: told at %s", async (_, step, before, change, message) => {
  const scorer = {
    score: async (rows: never) => change(await parityScorer.score(rows)) as Ragged<Float32Array>,
  };
  const fault = await faultOf("prm", { scorer }, before);
  expect(fault).toMatch(message);
  expect(fault).toContain(` ${step}: `);
});

type Result = Awaited<ReturnType<RewardFunction>>;
const functions: [name: string, change: (result: Result) => unknown, message: RegExp][] = [
  ["nothing", () => undefined, /ERR_INPUT .*expected \d+ results, one per response, got none/],
  [
    "infinity",
    ({ rewards }) => ({ rewards: rewards.map((_, row) => [row === 1 ? Infinity : 0]) }),
    /ERR_NOT_FINITE .*: reward\.function: expected a finite reward for token 0 of response 1, got Infinity/,
  ],
  [
    "null as verified",
    ({ rewards }) => ({ rewards, verified: rewards.map(() => null) }),
    /ERR_INPUT .*: reward\.function: expected 1, 0 or NaN as verified of response 0, got null/,
  ],
  [
    "a count as verified",
    ({ rewards }) => ({ rewards, verified: rewards.map(() => 2) }),
    /ERR_INPUT .*as verified of response 0, got 2/,
  ],
];

it.each(
  functions.flatMap(([name, ...more]) => AT.map(([before, step]) => [name, step, before, ...more] as const)),
)("a function that gives %s: told at %s", async (_, step, before, change, message) => {
  const reward = (async (...input: Parameters<RewardFunction>) =>
    change(await digits(...input))) as RewardFunction;
  const fault = await faultOf("function", { reward }, before);
  expect(fault).toMatch(message);
  expect(fault).toContain(` ${step}: `);
});

it("a generator that gives other than n responses per prompt", async () => {
  const few: TrainHooks["generator"] = () => ({
    exact: false,
    generate: async () => ({
      tokens: { data: Int32Array.of(9), offsets: Int32Array.of(0, 1) },
      logProbs: { data: Float32Array.of(-1), offsets: Int32Array.of(0, 1) },
      stopped: Uint8Array.of(1),
    }),
  });
  const fault = await faultOf("function", { reward: digits, generator: few }, false);
  expect(fault).toMatch(/ERR_SHAPE step 1: generator\.tokens: expected 12 responses, got 1/);
});

it("an empty response has no lowest step in the evaluation", async () => {
  const mixed: TrainHooks["generator"] = () => ({
    exact: false,
    async generate({ prompts, n }) {
      const rows = prompts.length * n;
      const offsets = Int32Array.from({ length: rows + 1 }, (_, row) => Math.floor(row / 2));
      const tokens = { data: new Int32Array(offsets[rows]!).fill(9), offsets };
      const logProbs = { data: new Float32Array(offsets[rows]!).fill(-1), offsets };
      return { tokens, logProbs, stopped: new Uint8Array(rows).fill(1) };
    },
  });
  const config = tiny(base, { steps: 1, reward: { mode: "prm" } });
  const hooks = { scorer: parityScorer, generator: mixed };
  const { before } = await trainRl(config, { folder: join(root, `run-${runs++}`), hooks });
  expect(before["eval/prm"]).toBeCloseTo(0.8, 6);
});
