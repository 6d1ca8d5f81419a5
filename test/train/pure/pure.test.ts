// The whole pipeline at a size of seconds: that its parts fit together, not what they reach.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EMBEDDED_RECIPE, type PurePart, type Recipe, runPure } from "../../../lib/train/pure/index.ts";
import { temporaryFolder } from "../../support/checkpoint.ts";
import { metricsOf, modelOf } from "../support.ts";

const root = await temporaryFolder();
const TINY: Recipe = {
  sft: (seed) => ({ ...EMBEDDED_RECIPE.sft(seed), rows: 400, steps: 80, warmup: 10 }),
  prm: (base, seed) => ({
    ...EMBEDDED_RECIPE.prm(base, seed),
    samples: 100,
    heldOutSamples: 30,
    headWidth: 8,
    all: { epochs: 1, batch: 16, learningRate: 3e-3 },
  }),
  rl: (base, prm, seed, steps) => ({
    ...EMBEDDED_RECIPE.rl(base, prm, seed, steps),
    rollout: { prompts: 4, n: 4, maxTokens: 40 },
    actor: { learningRate: 5e-4, miniBatch: 2 },
    eval: { every: 0, prompts: 20 },
  }),
};

describe("runPure", () => {
  it("goes from nothing to a trained policy, with numbers before and after", async () => {
    const parts: PurePart[] = [];
    const phases = new Set<string>();
    const folder = join(root, "whole");
    const result = await runPure({
      folder,
      steps: 2,
      recipe: TINY,
      onPart: (part) => parts.push(part),
      onProgress: ({ phase }) => phases.add(phase),
    });
    expect(parts.map(({ name }) => name)).toEqual(["sft", "prm", "rl"]);
    expect([...phases]).toEqual(["sft", "prm", "rl"]);
    expect(result.stages.map(({ name, quality }) => [name, typeof quality!.accuracy])).toEqual([
      ["head", "number"],
      ["all", "number"],
    ]);
    for (const metrics of [result.before, result.after]) {
      expect(metrics["eval/pass@1/greedy"]).toBeGreaterThanOrEqual(0);
      expect(metrics["eval/pass@1/sampled"]).toBeLessThanOrEqual(1);
      expect(metrics["eval/prm"]).toBeGreaterThan(-1);
    }
    expect(result.before["eval/kl"]).toBe(0);
    for (const path of Object.values(result.folders)) expect(existsSync(path)).toBe(true);
    const rl = metricsOf(result.folders.run).find(({ step }) => step === 1)!.metrics;
    expect(rl["actor/ppo_kl"]).toBeDefined();
  });

  it("gives the same numbers again, and goes on after a stop to the same bits", async () => {
    const whole = await runPure({ folder: join(root, "one"), steps: 2, recipe: TINY });
    const controller = new AbortController();
    const options = { folder: join(root, "two"), steps: 2, recipe: TINY };
    const stopped = runPure({
      ...options,
      signal: controller.signal,
      onProgress: ({ phase, step }) => {
        if (phase === "prm" && step === 9) controller.abort(new Error("stop"));
      },
    });
    await expect(stopped).rejects.toThrow("stop");
    const again = await runPure(options);
    expect(again.stages).toEqual(whole.stages);
    expect(again.before).toEqual(whole.before);
    expect(again.after).toEqual(whole.after);
    expect(modelOf(join(root, "two", "rl")).equals(modelOf(join(root, "one", "rl")))).toBe(true);
  });
});
