// Faults that users of other scorers reported, by where: which head is read, and what is made of its outputs. Each on a
// generated checkpoint, against a float64 forward.
import { describe, expect, it } from "vitest";
import { type ConventionInput, loadPrm, parseConvention } from "../../lib/prm/index.ts";
import { type GeneratedCheckpoint, headTensor, hiddenSize, linear, writePrm } from "../support/generated.ts";
import { temporaryFolder } from "../support/checkpoint.ts";
import { expectClose } from "../support/compare.ts";
import { rejection } from "../support/errors.ts";

const root = await temporaryFolder();
const newline = 10;
const lines = {
  input: { form: "plain", prompt: "{question}\n", tokenise: "parts", separator: { text: "\n" } },
  read: "at",
  range: "probability",
  aggregate: "mean",
  threshold: 0.5,
} as const;
const item = { question: "What is 2 + 2?", steps: ["We add 2 and 2.", "It is 4)"] };
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const softmax = (x: ArrayLike<number>, k: number): number =>
  Math.exp(x[k]!) / Array.from(x).reduce((sum, value) => sum + Math.exp(value), 0);

/** Scores of the item's steps, and the hidden states at their separators. */
async function score(
  checkpoint: GeneratedCheckpoint,
  convention: ConventionInput,
): Promise<{ values: Float64Array; states: Float64Array[] }> {
  await using prm = await loadPrm(checkpoint.folder, { convention });
  const { ids, reads } = prm.prepare(item).rows[0]!;
  expect(reads.map((read) => ids[read])).toEqual([newline, newline]);
  const hidden = checkpoint.hidden(ids);
  const [scores] = await prm.score([item]);
  return { values: scores!.values, states: reads.map((read) => hidden[read]!) };
}

describe("heads", { timeout: 120_000 }, () => {
  it("vllm#16545: the label ids are rows of the LM head at the tag, not entries of the hidden state", async () => {
    const checkpoint = writePrm(root, "labels", "lm");
    const labels = [5, 9];
    const { values, states } = await score(checkpoint, {
      ...lines,
      name: "labels",
      head: "lm-rows",
      labels,
      score: { transform: "softmax", good: 0 },
    });
    const logits = states.map((x) => linear(x, checkpoint.tensors["lm_head.weight"]!));
    expectClose(
      values,
      logits.map((row) => softmax([row[5]!, row[9]!], 0)),
      1e-5,
    );
    states.forEach((x, k) => {
      expect(Math.abs(values[k]! - softmax([x[5]!, x[9]!], 0))).toBeGreaterThan(1e-3);
    });
  });

  it("vllm PR#8896: W2 relu(W1 x + b1) + b2, not a single layer and not without the ReLU", async () => {
    const head = {
      "score.0.weight": headTensor(1, hiddenSize, hiddenSize),
      "score.0.bias": headTensor(2, hiddenSize),
      "score.2.weight": headTensor(3, 2, hiddenSize),
      "score.2.bias": headTensor(4, 2),
    };
    const { values, states } = await score(writePrm(root, "mlp", head), {
      ...lines,
      name: "mlp",
      head: "mlp",
      score: { transform: "softmax", good: 1 },
    });
    const through = (relu: boolean): number[] =>
      states.map((x) => {
        const inner = linear(x, head["score.0.weight"], head["score.0.bias"]);
        const kept = relu ? inner.map((value) => Math.max(0, value)) : inner;
        return softmax(linear(kept, head["score.2.weight"], head["score.2.bias"]), 1);
      });
    expectClose(values, through(true), 1e-5);
    through(false).forEach((wrong, k) => {
      expect(Math.abs(values[k]! - wrong)).toBeGreaterThan(1e-3);
    });
  });

  it("vllm#12791: a head of one logit gives its sigmoid or the logit, never a softmax over one class", async () => {
    const head = { "score.weight": headTensor(5, 1, hiddenSize) };
    const checkpoint = writePrm(root, "scalar", head);
    const scalar = { ...lines, name: "scalar", head: "scalar", score: { transform: "sigmoid" } } as const;
    const { values, states } = await score(checkpoint, scalar);
    const logits = states.map((x) => linear(x, head["score.weight"])[0]!);
    expectClose(values, logits.map(sigmoid), 1e-5);
    expect([...values].every((value) => value > 0 && value < 0.999)).toBe(true);
    const raw = { ...scalar, score: { transform: "identity" }, range: "unbounded" } as const;
    expectClose((await score(checkpoint, raw)).values, logits, 1e-5);
    const softmaxed = { ...scalar, score: { transform: "softmax", good: 0 } } as const;
    expect(() => parseConvention(softmaxed)).toThrow(/never a softmax over one class/);
    const asClasses = { ...softmaxed, head: "token-classification" } as const;
    const refused = await rejection(() => loadPrm(checkpoint.folder, { convention: asClasses }));
    expect(refused.code).toBe("ERR_CONVENTION");
  });

  it("vllm#30312: a value head gives one sigmoid per step; the raw logit is asked for by name", async () => {
    const head = {
      "v_head.summary.weight": headTensor(6, 1, hiddenSize),
      "v_head.summary.bias": headTensor(7, 1),
    };
    const checkpoint = writePrm(root, "value", head);
    const value = { ...lines, name: "value", head: "value", score: { transform: "sigmoid" } } as const;
    const { values, states } = await score(checkpoint, value);
    const logits = states.map(
      (x) => linear(x, head["v_head.summary.weight"], head["v_head.summary.bias"])[0]!,
    );
    expect(values).toHaveLength(2);
    expectClose(values, logits.map(sigmoid), 1e-5);
    const raw = { ...value, score: { transform: "identity" }, range: "unbounded" } as const;
    expectClose((await score(checkpoint, raw)).values, logits, 1e-5);
  });

  it("Qwen helper zero filter: a probability that underflows shifts no other step", async () => {
    const plain = writePrm(root, "states", "lm");
    const { states } = await score(plain, {
      ...lines,
      name: "probe",
      head: "lm-rows",
      labels: [5, 9],
      score: { transform: "softmax", good: 0 },
    });
    // Rows that give the logits [0, 120] at the first tag and [1, 0] at the second.
    const [row0, row1] = [solve(states, [0, 1]), solve(states, [120, 0])];
    const weight = headTensor(1, 2, hiddenSize);
    weight.values.set([...row0, ...row1].map(Math.fround));
    const bytes = new Uint8Array(Float32Array.from(weight.values).buffer);
    const head = { "score.weight": { ...weight, bytes } };
    const { values } = await score(writePrm(root, "zero", head), {
      ...lines,
      name: "zero",
      head: "token-classification",
      score: { transform: "softmax", good: 1 },
    });
    expect(values).toHaveLength(2);
    expect(values[0]).toBe(1);
    expect(values[1]).toBeCloseTo(0.2689414, 3);
  });

  it("ImplicitPRM#9: beta (log p - log p_ref) of the response's tokens alone, by step and summed up", async () => {
    const [model, reference] = [writePrm(root, "implicit", "lm", 1), writePrm(root, "reference", "lm", 2)];
    const convention = (accumulate: "step" | "cumulative") =>
      ({
        name: accumulate,
        head: "lm",
        input: { form: "response", join: "\n\n" },
        read: "at",
        score: { transform: "log-ratio", beta: 0.5, accumulate },
        range: "unbounded",
        aggregate: "last",
        threshold: 0,
      }) as const;
    const scoreBy = async (accumulate: "step" | "cumulative", question: string) => {
      await using prm = await loadPrm(model.folder, {
        convention: convention(accumulate),
        reference: reference.folder,
      });
      const given = { question, steps: ["abc", "defg"] };
      return { values: [...(await prm.score([given]))[0]!.values], prepared: prm.prepare(given) };
    };
    const { values, prepared } = await scoreBy("step", "q");
    const { ids, reads, targets } = prepared.rows[0]!;
    const logProb = ({ hidden, tensors }: GeneratedCheckpoint, read: number, target: number): number => {
      const logits = linear(hidden(ids)[read]!, tensors["lm_head.weight"]!);
      return Math.log(softmax(logits, target));
    };
    const ratios = reads.map(
      (read, i) => 0.5 * (logProb(model, read, targets![i]!) - logProb(reference, read, targets![i]!)),
    );
    expect(Buffer.from(targets!).toString()).toBe("abc\n\ndefg");
    const total = (list: number[]): number => list.reduce((a, b) => a + b, 0);
    expectClose(values, [total(ratios.slice(0, 5)), total(ratios.slice(5))], 1e-4);
    const sums = (await scoreBy("cumulative", "q")).values;
    expectClose(sums, [total(ratios.slice(0, 5)), total(ratios)], 1e-4);
    // A longer prompt adds no reads.
    expect((await scoreBy("step", "a much longer question")).prepared.rows[0]!.reads).toHaveLength(
      reads.length,
    );
  });
});

// The vector of smallest norm with given products with two others.
function solve([a, b]: Float64Array[], [p, q]: [number, number]): number[] {
  const dot = (x: Float64Array, y: Float64Array): number =>
    x.reduce((sum, value, i) => sum + value * y[i]!, 0);
  const [aa, ab, bb] = [dot(a!, a!), dot(a!, b!), dot(b!, b!)];
  const det = aa * bb - ab * ab;
  const [s, t] = [(p * bb - q * ab) / det, (q * aa - p * ab) / det];
  return Array.from(a!, (value, i) => s * value + t * b![i]!);
}
