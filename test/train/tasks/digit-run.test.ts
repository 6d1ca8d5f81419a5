// A run of the trainer on the digit task, with a tiny model.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createModel, saveModel } from "../../../lib/train/engine/index.ts";
import { trainRl } from "../../../lib/train/rl/index.ts";
import { readTrainConfig, type TrainConfigInput } from "../../../lib/train/config/index.ts";
import { temporaryFolder } from "../../support/checkpoint.ts";
import { sharedPath } from "../../support/checkpoints.ts";
import { metricsOf } from "../support.ts";

const folder = await temporaryFolder();
const path = join(folder, "policy");
const CONFIG = {
  model_type: "llama",
  vocab_size: 16,
  hidden_size: 16,
  intermediate_size: 24,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  max_position_embeddings: 64,
  eos_token_id: 1,
};
await saveModel(createModel(CONFIG, { heads: { lm: true }, seed: 1 }), path, { config: CONFIG });
const charOrds = Array.from("0123456789,:", (character) => character.charCodeAt(0));
writeFileSync(join(path, "tokenizer_config.json"), JSON.stringify({ char_ords: charOrds }));
const prompts = ["1,2:9,0", "3,4:9,1", "5,5:9,2", "8,0:9,3"].map((prompt) => JSON.stringify({ prompt }));
const data = join(folder, "prompts.jsonl");
writeFileSync(data, prompts.join("\n"));

async function run(
  name: string,
  options: TrainConfigInput["digits"],
  steps = 2,
  more: Partial<TrainConfigInput["data"]> = {},
  rollout: TrainConfigInput["rollout"] = {},
): Promise<Record<string, number>[]> {
  const config = {
    seed: 7,
    steps,
    model: { path },
    data: { train: data, eval: data, ...more },
    rollout: { prompts: 4, n: 32, maxTokens: 6, ...rollout },
    reward: { mode: "function" as const, function: "digits" },
    digits: options,
    algorithm: { normalize: "scale" as const },
    kl: { place: "none" as const },
    actor: { learningRate: 3e-2, entropyCoefficient: 0.1 },
    eval: { every: 0, prompts: 4 },
  };
  await trainRl(config, { folder: join(folder, name) });
  return metricsOf(join(folder, name)).map(({ metrics }) => metrics);
}

test("the reward rises, and is the task's own whatever is trained on", async () => {
  const equal = await run("equal", { equalCharacters: true }, 12);
  const reward = (step: number) => equal[step]!["digits/reward/mean"]!;
  expect(reward(12)).toBeGreaterThan(reward(1) + 0.1);
  // Characters count 1 in training and 1 / (L + 1) in the task.
  expect(equal[1]!["critic/score/mean"]).toBeGreaterThan(reward(1));
  const own = await run("own", {}, 1);
  expect(own[1]!["critic/score/mean"]).toBeCloseTo(own[1]!["digits/reward/mean"]!, 6);
  // The same first step, and evaluations with the task's reward in both.
  expect(own[1]!["digits/reward/mean"]).toBe(reward(1));
  expect(own[0]).toEqual(equal[0]);
});

test("responses end at the first wrong character, and are as short as the curriculum says", async () => {
  const whole = await run("whole", { endAtMismatch: false }, 1);
  const ended = await run("ended", {}, 1);
  const grown = await run("grown", { grow: { start: 1 } }, 1);
  const longest = (metrics: Record<string, number>[]) => metrics[1]!["response_length/max"];
  expect(longest(whole)).toBe(6);
  expect(ended[1]!["response_length/mean"]).toBeLessThan(whole[1]!["response_length/mean"]! / 2);
  // What is cut off was worth nothing.
  expect(ended[1]!["digits/reward/mean"]).toBe(whole[1]!["digits/reward/mean"]);
  expect(longest(grown)).toBe(1);
  expect(grown[1]!["curriculum/max_tokens"]).toBe(1);
  expect(grown[0]).toEqual(ended[0]);
});

test("prompts come in the order that the config asks for", async () => {
  await run("ordered", {}, 3, { shuffle: false }, { prompts: 1, n: 2 });
  const lines = readFileSync(join(folder, "ordered", "rollouts.jsonl"), "utf8")
    .trim()
    .split("\n");
  const drawn = lines.map((line) => (JSON.parse(line) as { prompt: string }).prompt);
  expect([...new Set(drawn)]).toEqual(["1,2:9,0", "3,4:9,1", "5,5:9,2"]);
});

test.for(["rloo", "gae"])("examples/digits-%s.yaml trains verl's own model", async (kind, { skip }) => {
  const digits = sharedPath("data/verl-digit-completion");
  skip(digits === undefined, "there is no ../shared/data/verl-digit-completion");
  const file = new URL(`../../../examples/digits-${kind}.yaml`, import.meta.url).pathname;
  const own = [
    `model.path=${digits}`,
    `data.train=${digits}/train.parquet`,
    `data.eval=${digits}/test.parquet`,
  ];
  const small = ["steps=2", "rollout.prompts=8", "rollout.n=4", "actor.miniBatch=4", "critic.miniBatch=4"];
  const config = await readTrainConfig(file, {
    set: [...own, ...small, "eval.prompts=4", "checkpoint.every=0"],
  });
  expect(await trainRl(config, { folder: join(folder, kind) })).toMatchObject({ step: 2, ended: "done" });
  const [before, first, last] = metricsOf(join(folder, kind)).map(({ metrics }) => metrics);
  expect(first).toMatchObject({ "curriculum/max_tokens": 2, "response_length/max": 2 });
  expect(first!["critic/score/mean"]).toBeGreaterThan(first!["digits/reward/mean"]!);
  expect(first!["actor/grad_norm"]).toBeGreaterThan(0);
  expect(Object.keys(last!)).toEqual(expect.arrayContaining(Object.keys(before!)));
  expect(before!["eval/reward/greedy"]).toBeGreaterThanOrEqual(0);
});
