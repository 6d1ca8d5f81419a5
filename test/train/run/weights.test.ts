import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  createModel,
  Optimizer,
  type TrainableModel,
  type Training,
} from "../../../lib/train/engine/index.ts";
import { loadOptimizer, loadWeights, saveOptimizer, saveWeights } from "../../../lib/train/run/index.ts";
import { temporaryFolder } from "../../support/checkpoint.ts";
import { rejection } from "../../support/errors.ts";

const folder = await temporaryFolder();
const CONFIG = {
  model_type: "qwen2",
  vocab_size: 12,
  hidden_size: 8,
  intermediate_size: 12,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  max_position_embeddings: 32,
  tie_word_embeddings: true,
};

function modelOf(training: Training, seed: number): TrainableModel {
  const model = createModel(CONFIG, { heads: { lm: true }, seed });
  model.train(training);
  return model;
}

async function step(model: TrainableModel, optimizer: Optimizer): Promise<void> {
  const pass = await model.forward({ data: Int32Array.of(1, 2, 3), offsets: Int32Array.of(0, 3) });
  const of = await pass.logProbs(Int32Array.of(0, 1), Int32Array.of(2, 3));
  await pass.backward({ logProbs: [{ of, gradLogProbs: Float32Array.of(-1, -1) }] });
  optimizer.step({ learningRate: 0.01 });
}

describe.each<[string, Training]>([
  ["all weights", "all"],
  ["adapters", { lora: { rank: 2 } }],
])("%s", (name, training) => {
  it("go on to the same bits", async () => {
    const [model, other] = [modelOf(training, 1), modelOf(training, 2)];
    const [optimizer, second] = [new Optimizer(model), new Optimizer(other)];
    for (let i = 0; i < 3; i++) await step(model, optimizer);
    await saveWeights(model, folder, name);
    await saveOptimizer(optimizer, model, folder, `${name}-moments`);
    await loadWeights(other, folder, name);
    await loadOptimizer(second, other, folder, `${name}-moments`);
    expect(second.steps).toBe(3);
    await step(model, optimizer);
    await step(other, second);
    const values = (of: TrainableModel) =>
      of.trainable().map((parameter) => [parameter.name, parameter.data]);
    expect(values(other)).toEqual(values(model));
    expect(model.trainable().length).toBeGreaterThan(0);
  });
});

describe("what does not fit", () => {
  it("is named", async () => {
    const model = modelOf("all", 1);
    await saveWeights(model, folder);
    await saveOptimizer(new Optimizer(model), model, folder);
    const wide = createModel({ ...CONFIG, intermediate_size: 16 }, { heads: { lm: true } });
    expect((await rejection(() => loadWeights(wide, folder))).message).toMatch(
      /weights\.safetensors: expected tensor model\.layers\.0\.mlp\.gate_proj\.weight in float32, of sizes \[16,8\], found float32 \[12,8\]/,
    );
    const headed = createModel(CONFIG, { heads: { lm: true, value: true } });
    expect((await rejection(() => loadWeights(headed, folder))).message).toMatch(
      /expected tensor v_head\.summary\.weight .*, found none/,
    );
    writeFileSync(join(folder, "optimizer.json"), '{"steps":1,"parameters":["x"]}');
    expect((await rejection(() => loadOptimizer(new Optimizer(model), model, folder))).message).toMatch(
      /optimizer\.json: expected parameters that train, got x/,
    );
    writeFileSync(join(folder, "optimizer.json"), "{");
    expect((await rejection(() => loadOptimizer(new Optimizer(model), model, folder))).message).toMatch(
      /optimizer\.json: expected \{ steps, parameters \} as JSON/,
    );
    expect(
      await rejection(() => loadOptimizer(new Optimizer(model), model, join(folder, "no"))),
    ).toMatchObject({
      code: "ERR_INPUT",
    });
  });
});
