// A run that cannot learn says so once: after ten steps, or when it ends before.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseTrainConfig, type TrainConfigInput } from "../../../lib/train/config/index.ts";
import { IdleWatch } from "../../../lib/train/rl/idle.ts";
import { type RewardFunction, trainRl } from "../../../lib/train/rl/index.ts";
import { temporaryFolder } from "../../support/checkpoint.ts";
import { digits, freshPolicy, tiny } from "./support.ts";

const CUT = /^steps? .*: every response reached rollout\.maxTokens = 1024 without stopping/;
const ALIKE = /^steps? .*: no two responses .* had different rewards/;
const promptOf = Int32Array.of(0, 0, 1, 1);

type Step = readonly [stopped: readonly number[], scores: readonly number[]];
const IDLE: Step = [
  [0, 0, 0, 0],
  [1, 1, 0, Number.NaN],
];

function warningsOf(steps: readonly Step[], more: Partial<TrainConfigInput> = {}, from = 1): string[] {
  const warnings: string[] = [];
  const config = parseTrainConfig({ model: { path: "m" }, data: { train: "t" }, ...more });
  const watch = new IdleWatch(config, (message) => warnings.push(message));
  steps.forEach(([stopped, scores], i) => {
    watch.see(from + i, { promptOf, stopped: Uint8Array.from(stopped) }, Float32Array.from(scores));
  });
  watch.end(from + steps.length - 1);
  return warnings;
}

describe("the watch", () => {
  it("speaks at the end of a short run, of what it saw", () => {
    expect(warningsOf([IDLE, IDLE])).toEqual([expect.stringMatching(CUT), expect.stringMatching(ALIKE)]);
    expect(warningsOf([IDLE], {}, 7)[0]).toMatch(/^step 7: /);
    expect(warningsOf([])).toEqual([]);
  });

  it("speaks once, after ten steps, and looks no further", () => {
    const warnings = warningsOf(Array<Step>(25).fill(IDLE));
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(/^steps 1 to 10: /);
  });

  it("is silent where one response stopped and one group differed", () => {
    expect(warningsOf([IDLE, [[0, 0, 0, 1], IDLE[1]]])).toEqual([expect.stringMatching(ALIKE)]);
    expect(warningsOf([IDLE, [IDLE[0], [1, 1, 0, 1]]])).toEqual([expect.stringMatching(CUT)]);
  });

  it("compares within a step where the estimator does", () => {
    const gae = { algorithm: { estimator: "gae" } } as const;
    expect(warningsOf([[[1, 1, 1, 1], IDLE[1]]], gae)).toEqual([]);
    expect(
      warningsOf(
        [
          [
            [1, 1, 1, 1],
            [1, 1, 1, 1],
          ],
        ],
        gae,
      ),
    ).toEqual(["step 1: no two responses of any step had different rewards: there is nothing to learn from"]);
  });
});

describe("a run", async () => {
  const root = await temporaryFolder();
  const base = await freshPolicy(root);

  async function run(name: string, reward: RewardFunction, more: object = {}) {
    const warnings: string[] = [];
    const config = tiny(base, { steps: 2, eval: { before: false, every: 0 }, ...more });
    await trainRl(config, {
      folder: join(root, name),
      hooks: { reward, onWarning: (message) => warnings.push(message) },
    });
    return warnings;
  }

  it("tells its warnings", async () => {
    const same: RewardFunction = ({ texts }) => ({ rewards: texts.map(() => [0.5]) });
    const stopIds = { rollout: { stopIds: [] } };
    expect(await run("idle", same, stopIds)).toEqual([
      expect.stringMatching(/^steps 1 to 2: every response reached rollout\.maxTokens = 10 /),
      "steps 1 to 2: no two responses to any prompt had different rewards: there is nothing to learn from",
    ]);
    expect(await run("busy", digits)).toEqual([]);
  });
});
