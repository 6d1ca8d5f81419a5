// Log-probs, entropies, head outputs and gradients of transformers (goldens/generate.py), in float64.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createModel, type TrainableModel } from "../../../lib/train/engine/index.ts";
import { expectClose } from "../../support/compare.ts";

interface Case {
  config: Record<string, unknown> & { vocab_size: number };
  logProbs: number[];
  entropy: number[];
  scores: number[];
  values: number[];
  gradients: Record<string, { norm: number; step: number; values: number[] }>;
}
interface Goldens {
  lengths: number[];
  classes: number;
  width: number;
  temperature: number;
  cases: Record<string, Case>;
}
const goldens = JSON.parse(readFileSync(new URL("./goldens/torch.json", import.meta.url), "utf8")) as Goldens;
const OUTPUTS = 2e-6;
const GRADIENTS = 1e-5; // relative to the tensor's gradient; the promise is 1e-4

/** The formula of goldens/generate.py. */
function fill(model: TrainableModel): void {
  const parameters = [...model.parameters.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const [index, { name, shape, data }] of parameters.entries()) {
    const scale = shape.length === 1 ? 0.3 : 1.7 / Math.sqrt(shape[1]!);
    let x = index + 1;
    for (let i = 0; i < data.length; i++) {
      x = (Math.imul(x, 1664525) + 1013904223) | 0;
      const value = Math.fround(x / 2 ** 31) * scale;
      data[i] = name.includes("norm") ? 1 + value : value;
    }
  }
}

function batchOf(lengths: number[], vocabulary: number) {
  const offsets = Int32Array.from([0, ...lengths]);
  for (let i = 1; i < offsets.length; i++) offsets[i]! += offsets[i - 1]!;
  const data = Int32Array.from(
    lengths.flatMap((length, row) =>
      Array.from({ length }, (_, i) => (5 * i * i + 3 * i + row) % vocabulary),
    ),
  );
  return { data, offsets };
}

describe.each(Object.entries(goldens.cases))("%s", (_, golden) => {
  const { classes, width, temperature, lengths } = goldens;
  const vocabulary = golden.config.vocab_size;
  const batch = batchOf(lengths, vocabulary);
  const reads = batch.data.map((_, i) => i);
  const targets = reads.map((i) => (7 * i + 2) % vocabulary);
  const model = createModel(golden.config, {
    heads: { lm: true, classifier: { classes, width }, value: true },
  });
  fill(model);

  const backward = async (keep: "inputs" | "activations") => {
    model.clearGradients();
    const pass = await model.forward(batch, { keep });
    const of = await pass.logProbs(reads, targets, { temperature, entropy: true });
    const scores = await pass.readout("classifier", reads);
    const values = await pass.readout("value", reads);
    await pass.backward({
      logProbs: [
        {
          of,
          gradLogProbs: Float32Array.from(reads, (i) => Math.sin(i + 1)),
          gradEntropy: Float32Array.from(reads, (i) => 0.1 * Math.cos(i)),
        },
      ],
      readouts: [
        {
          head: "classifier",
          reads,
          grad: Float32Array.from(scores, (_, i) => Math.sin(3 * Math.floor(i / classes) + (i % classes))),
        },
        { head: "value", reads, grad: Float32Array.from(reads, (i) => Math.cos(2 * i)) },
      ],
    });
    return { of, scores, values };
  };

  test("outputs", async () => {
    const { of, scores, values } = await backward("activations");
    expectClose(of.logProbs, golden.logProbs, OUTPUTS);
    expectClose(of.entropy!, golden.entropy, OUTPUTS);
    expectClose(scores, golden.scores, OUTPUTS);
    expectClose(values, golden.values, OUTPUTS);
  });

  test("sums of squared probabilities are those of the whole vocabulary", async () => {
    const pass = await model.forward(batch, { keep: "nothing" });
    const read = batch.data.length - 1;
    const everywhere = Int32Array.from({ length: vocabulary }, (_, id) => id);
    const { logProbs, sumSquaredProbs } = await pass.logProbs(
      everywhere.map(() => read),
      everywhere,
      {
        temperature,
        sumSquaredProbs: true,
      },
    );
    const sum = logProbs.reduce((total, logProb) => total + Math.exp(2 * logProb), 0);
    for (const value of sumSquaredProbs!) expect(value).toBeCloseTo(sum, 6);
  });

  test.each(["activations", "inputs"] as const)("gradients, keeping %s", async (keep) => {
    await backward(keep);
    expect([...model.parameters.keys()].sort()).toEqual(Object.keys(golden.gradients).sort());
    for (const [name, { norm, step, values }] of Object.entries(golden.gradients)) {
      const { grad } = model.parameters.get(name)!;
      const found = Math.hypot(...grad!);
      expect(Math.abs(found - norm) / norm, `${name}: norm`).toBeLessThan(GRADIENTS);
      for (const [i, value] of values.entries()) {
        expect(Math.abs(grad![i * step]! - value) / norm, `${name}[${i * step}]`).toBeLessThan(GRADIENTS);
      }
    }
  });
});
