import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadPrm } from "../../../lib/prm/index.ts";
import { ragged } from "../../../lib/ragged.ts";
import { arithmeticCodec as codec } from "../../../lib/train/arithmetic/codec.ts";
import { parseTrainConfig } from "../../../lib/train/config/index.ts";
import type { PromptRow } from "../../../lib/train/data/prompts.ts";
import { openScorer } from "../../../lib/train/prm/scorer.ts";
import { leftOut } from "../../../lib/train/rl/mask.ts";
import { MiniBatchCount, miniBatches } from "../../../lib/train/rl/mini-batches.ts";
import { prmScorer } from "../../../lib/train/rl/prm-scorer.ts";
import { Sequences, takeRows } from "../../../lib/train/rl/sequences.ts";
import { StepFinder } from "../../../lib/train/rl/steps.ts";
import { isVerifiable } from "../../../lib/train/rl/verify.ts";
import { openCodec } from "../../../lib/train/text/codec.ts";

const ids = (text: string) => codec.encode(text);
const config = (more: object = {}) =>
  parseTrainConfig({ model: { path: "m" }, data: { train: "t" }, ...more });
const prompt = (id: string, length: number): PromptRow => ({
  id,
  text: id,
  ids: new Int32Array(length).fill(9),
  answer: "1",
});

describe("responses", () => {
  it("have steps that end on tokens whose text ends with the separator", () => {
    const eos = codec.eosId!;
    const tokens = ragged([[...ids("1+2=3\n\n3=3\n\n"), eos], ids("1+2=3\n\n3"), ids("1\n\n")], "int32");
    const { data, offsets } = new StepFinder(codec, "\n\n").find(tokens);
    expect([Array.from(data), Array.from(offsets)]).toEqual([
      [5, 9, 10, 5, 6, 1],
      [0, 3, 5, 6],
    ]);
  });
});

describe("sequences", () => {
  const prompts = [prompt("a", 2), prompt("b", 3)];
  const tokens = ragged([[10, 11], [], [12], [13, 14, 15]], "int32");
  const sequences = new Sequences({ prompts, promptOf: Int32Array.of(0, 0, 1, 1), tokens });

  it("read every response token at the token before it", () => {
    const [all] = [...sequences.micro([3, 0], 100)];
    expect(Array.from(all!.rows)).toEqual([3, 0]);
    expect(Array.from(all!.batch.data)).toEqual([9, 9, 10, 9, 9, 9, 13, 14]);
    expect(Array.from(all!.reads)).toEqual([5, 6, 7, 1, 2]);
    expect(Array.from(all!.targets)).toEqual([13, 14, 15, 10, 11]);
    expect(Array.from(all!.offsets)).toEqual([0, 3, 5]);
  });

  it("go through the model in parts, empty responses left out", () => {
    const parts = [...sequences.micro([0, 1, 2, 3], 8)].map(({ rows }) => Array.from(rows));
    expect(parts).toEqual([[0, 2], [3]]);
    expect(Array.from(takeRows(tokens, [2, 1]).offsets)).toEqual([0, 1, 1]);
  });

  it("are counted for every aggregation, whatever the parts", () => {
    const mask = Uint8Array.of(1, 1, 0, 1, 1, 1);
    const count = new MiniBatchCount(Int32Array.of(0, 1, 2, 3), sequences, Int32Array.of(0, 0, 1, 1), mask);
    const of = (name: Parameters<MiniBatchCount["of"]>[1]) => count.of(Int32Array.of(3, 0), name);
    expect(of("token-mean").denominator).toBe(5);
    expect(of("seq-mean-token-mean").denominator).toBe(2);
    expect(of("prompt-mean")).toMatchObject({ denominator: 2, promptTokens: [3, 2] });
  });
});

describe("mini-batches", () => {
  const settings = config({ rollout: { prompts: 4, n: 2 }, actor: { miniBatch: 1, epochs: 2 } });

  it("take every response once in an epoch, in an order that changes", () => {
    const batches = miniBatches(8, settings, settings.actor, 1);
    expect(batches.map(({ length }) => length)).toEqual(new Array(8).fill(2));
    for (const half of [batches.slice(0, 4), batches.slice(4)]) {
      expect(half.flatMap((rows) => Array.from(rows)).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    }
    expect(batches.slice(0, 4)).not.toEqual(batches.slice(4));
    expect(miniBatches(8, settings, settings.actor, 1)).toEqual(batches);
    expect(miniBatches(8, settings, settings.actor, 2)).not.toEqual(batches);
  });
});

describe("verifiable prompts", () => {
  const row = (text: string, answer: string | null = "1"): PromptRow => ({
    id: text,
    text,
    answer,
    ids: Int32Array.of(1),
  });

  it("are about the share that is asked for, and always the same", () => {
    const rows = Array.from({ length: 2000 }, (_, i) => row(`${i}+1=`));
    const chosen = rows.filter((one) => isVerifiable(one, 0.1)).length;
    expect(chosen).toBeGreaterThan(150);
    expect(chosen).toBeLessThan(250);
    const more = rows.filter((one) => isVerifiable(one, 0.5));
    expect(rows.every((one) => !isVerifiable(one, 0.1) || more.includes(one))).toBe(true);
    expect(isVerifiable(row("x", null), 1)).toBe(false);
    expect(rows.every((one) => isVerifiable(one, 1) && !isVerifiable(one, 0))).toBe(true);
  });
});

describe("responses left out", () => {
  const rollouts = {
    prompts: [prompt("a", 1), prompt("b", 1)],
    promptOf: Int32Array.of(0, 0, 1, 1),
    tokens: ragged([[1], [1, 1], [1], [1]], "int32"),
    logProbs: ragged([[0], [0, 0], [0], [0]], "float32"),
    stopped: Uint8Array.of(1, 0, 1, 1),
    texts: ["", "", "", ""],
  };
  const rewards = (verified: number[]) => ({
    stepEnds: ragged([[0], [1], [0], [0]], "int32"),
    steps: undefined,
    tokens: undefined,
    verified: Float32Array.from(verified),
  });
  const masked = (more: object, verified: number[]) => {
    const mask = leftOut(config(more), rollouts, rewards(verified));
    return mask && Array.from(mask.data);
  };

  it("are the truncated ones, or those of groups with nothing to compare", () => {
    expect(masked({}, [1, 1, 0, 1])).toBeUndefined();
    expect(masked({ rollout: { truncated: "mask" } }, [1, 1, 0, 1])).toEqual([1, 0, 0, 1, 1]);
    expect(masked({ curriculum: { dropUniform: true } }, [1, 1, 0, 1])).toEqual([0, 0, 0, 1, 1]);
    expect(masked({ curriculum: { dropUniform: true } }, [Number.NaN, Number.NaN, 0, 1])).toBeUndefined();
  });
});

const PRM = "../shared/checkpoints/pure-prm-tiny";

describe.skipIf(!existsSync(PRM))("a PRM of PURE's", () => {
  it("gives the same rewards by either engine", async () => {
    const text = await openCodec(PRM);
    const promptIds = text.encode("What is 1 + 2?");
    const response = text.encode("Add the two numbers.\n\nThe sum is 3.\n\nThe answer is 3.");
    const ends = new StepFinder(text, "\n\n").find(ragged([response], "int32")).data;
    expect(ends.length).toBe(3);
    const rowOf = {
      ids: Int32Array.from([...promptIds, ...response]),
      ends: ends.map((end) => end + promptIds.length),
    };
    const rows = [{ ...rowOf, prompt: promptIds.length }];
    const trained = await (await openScorer(PRM)).score(rows);
    await using prm = await loadPrm(PRM, { policyTokenizer: PRM });
    const scorer = prmScorer(prm, text);
    const inferred = await scorer.score(rows);
    expect(Array.from(inferred.offsets)).toEqual([0, 3]);
    trained.data.forEach((value, k) => {
      expect(inferred.data[k]).toBeCloseTo(value, 4);
    });
    const wrong = [{ ...rows[0]!, ends: Int32Array.of(promptIds.length + 2) }];
    await expect(scorer.score(wrong)).rejects.toThrow(/expected the trainer's steps/);
    await scorer.close!();
    await expect(scorer.score(rows)).rejects.toThrow(/closed/);
  });
});
