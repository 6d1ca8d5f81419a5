// Faults that users of other scorers reported, by where: batches, engines, metrics.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MinformError } from "../../lib/errors.ts";
import {
  aggregate,
  createPrm,
  evaluatePrmBench,
  firstError,
  loadPrm,
  parsePrmBench,
  type Prm,
  processBenchMetrics,
  stepScores,
} from "../../lib/prm/index.ts";
import { errorCode } from "../support/compare.ts";
import { sharedPath } from "../support/checkpoints.ts";
import { expectedRows } from "../support/expected.ts";
import { fakeRunner } from "../support/runner.ts";
import { toyTokenizer } from "../support/toy-tokenizer.ts";

const steps = (count: number): string[] =>
  Array.from({ length: count }, (_, k) => `We add ${k} and get ${k * k}.`);
const toy = (options = {}, convention: Parameters<typeof createPrm>[0]["convention"] = "qwen-like"): Prm =>
  createPrm(
    {
      model: "toy",
      convention: convention === "qwen-like" ? qwenLike : convention,
      tokenizer: toyTokenizer(),
      runner: fakeRunner(),
    },
    options,
  );
// Qwen2.5-Math-PRM's form, with the toy vocabulary's id of the marker.
const qwenLike = {
  name: "qwen-like",
  head: "mlp",
  input: { form: "chat", separator: { token: "<extra_0>" } },
  read: "at",
  score: { transform: "softmax", good: 1 },
  range: "probability",
  aggregate: "min",
  threshold: 0.5,
} as const;
const pureLike = {
  name: "pure-like",
  head: "token-classification",
  input: { form: "plain", prompt: "{question}", tokenise: "parts", separator: { text: "\n" } },
  read: "at",
  score: { transform: "softmax-difference", good: 1, bad: 0 },
  range: "signed",
  aggregate: "soft-min",
  threshold: 0,
} as const;

describe("semantics", () => {
  it("Qwen helper zero filter: an underflowed probability shifts nothing", async () => {
    const logits = [
      [0, 120],
      [1, 0],
    ];
    let read = 0;
    const runner = fakeRunner({ logits: () => logits[read++]! });
    const prm = createPrm({ model: "toy", convention: qwenLike, tokenizer: toyTokenizer(), runner });
    const [scores] = await prm.score([{ question: "q", steps: ["a", "b"] }]);
    expect(scores!.values).toHaveLength(2);
    expect(scores!.values[0]).toBe(1);
    expect(scores!.values[1]).toBeCloseTo(0.2689414213699951, 12);
    const tiny = [0, -120];
    const other = createPrm({
      model: "toy",
      convention: qwenLike,
      tokenizer: toyTokenizer(),
      runner: fakeRunner({ logits: () => tiny }),
    });
    const [low] = await other.score([{ question: "q", steps: ["a", "b", "c"] }]);
    expect([...low!.values].every((value) => value > 0 && value < 1e-50)).toBe(true);
  });

  it("vllm#30312: a value head gives one sigmoid per step; the raw logit is a convention of its own", async () => {
    const runner = () => fakeRunner({ outputs: 1, logits: () => [2] });
    const skywork = {
      name: "skywork-like",
      head: "value",
      input: { form: "plain", prompt: "{question}\n", tokenise: "parts", separator: { text: "\n" } },
      read: "at",
      score: { transform: "sigmoid" },
      range: "probability",
      aggregate: "mean",
      threshold: 0.5,
    } as const;
    const tokenizer = toyTokenizer();
    const prm = createPrm({ model: "toy", convention: skywork, tokenizer, runner: runner() });
    const [scores] = await prm.score([{ question: "q", steps: ["a", "b"] }]);
    expect([...scores!.values]).toEqual([1 / (1 + Math.exp(-2)), 1 / (1 + Math.exp(-2))]);
    const raw = { ...skywork, name: "raw", score: { transform: "identity" }, range: "unbounded" } as const;
    const unbounded = createPrm({ model: "toy", convention: raw, tokenizer, runner: runner() });
    const [logit] = await unbounded.score([{ question: "q", steps: ["a"] }]);
    expect([...logit!.values]).toEqual([2]);
    expect(logit!.range).toBe("unbounded");
  });

  it("PURE#2: the same text in more steps: soft-min depends on the scores, a sum on their number", () => {
    const three = stepScores([0.5, 0.5, 0.5], "signed");
    const eight = stepScores(new Array(8).fill(0.5), "signed");
    expect(aggregate(three, "soft-min")).toBe(aggregate(eight, "soft-min"));
    const sum = (values: Float64Array): number => values.reduce((a, b) => a + b);
    expect(sum(eight.values) - sum(three.values)).toBe(2.5);
  });

  it("prm800k#7, #8: product aggregation punishes long solutions", () => {
    const long = stepScores(new Array(10).fill(0.95), "probability");
    const short = stepScores([0.9, 0.9, 0.9], "probability");
    expect(aggregate(long, "product")).toBeCloseTo(0.599, 3);
    expect(aggregate(short, "product")).toBeCloseTo(0.729, 12);
    expect([aggregate(long, "min"), aggregate(short, "min")]).toEqual([0.95, 0.9]);
  });

  it("ProcessBench#3, #6, #14; PURE#18: F1 of exact matches, with the threshold beside it", () => {
    expect(processBenchMetrics([-1, 2], [-1, 2], 0.5)).toMatchObject({ f1: 1, threshold: 0.5 });
    expect(processBenchMetrics([-1, 2], [-1, 1], 0.5)).toMatchObject({
      f1: 0,
      errorAccuracy: 0,
      correctAccuracy: 1,
    });
    expect(firstError([0.9, 0.4, 0.1], 0.5)).toBe(1);
    expect(firstError([0.9, 0.5], 0.5)).toBe(-1);
  });

  it("PRMBench#7, PR#6: error_steps count from 1", () => {
    const [row] = parsePrmBench([
      {
        idx: "t",
        original_question: "q",
        modified_question: "q",
        original_process: ["a", "b", "c", "d"],
        modified_process: ["a", "b", "X", "d"],
        error_steps: [3],
        classification: "confidence",
      },
    ]);
    expect(row!.errors).toEqual([2]);
    expect(evaluatePrmBench([row!], [[0.9, 0.9, 0.1, 0.9]], 0.5).total).toMatchObject({
      f1: 1,
      negativeF1: 1,
      prmScore: 1,
      counts: { tp: 3, fp: 0, tn: 1, fn: 0 },
    });
    const shifted = evaluatePrmBench([row!], [[0.9, 0.1, 0.9, 0.9]], 0.5).total;
    expect(shifted.counts).toEqual({ tp: 2, fp: 1, tn: 0, fn: 1 });
    expect(shifted.prmScore).toBeCloseTo(0.5 * (2 / 3), 12);
  });

  it("ThinkPRM#3, inference_scaling#3: no score is NaN and flagged, not 0 and not left out", async () => {
    const prm = createPrm(
      {
        model: "toy",
        convention: qwenLike,
        tokenizer: toyTokenizer(),
        runner: fakeRunner({ maxLength: 60 }),
      },
      { overlong: "flag" },
    );
    const [scores] = await prm.score([{ question: "q", steps: steps(12) }]);
    expect(scores!.values).toHaveLength(12);
    expect(scores!.unscored.length).toBeGreaterThan(0);
    expect([...scores!.values].map(Number.isNaN)).toEqual(
      Array.from({ length: 12 }, (_, k) => scores!.unscored.includes(k)),
    );
    expect(aggregate(scores!, "mean")).toBeNaN();
    expect(aggregate(scores!, "mean", { unscored: "skip" })).toBeGreaterThan(0);
  });

  it("TRL PR#2127: a step that is ignored (null) is no judgement: it counts neither as right nor as wrong", () => {
    const scores = stepScores([0.9, null, 0.1], "probability");
    expect(firstError(scores.values, 0.5)).toBe(2);
    expect(aggregate(scores, "mean", { unscored: "skip" })).toBeCloseTo(0.5, 12);
  });

  it("ImplicitPRM#9: the prompt contributes nothing; both forms, named", async () => {
    const implicit = (accumulate: "step" | "cumulative") =>
      ({
        name: "implicit",
        head: "lm",
        input: { form: "response", join: "\n\n" },
        read: "at",
        score: { transform: "log-ratio", beta: 0.5, accumulate },
        range: "unbounded",
        aggregate: "last",
        threshold: 0,
      }) as const;
    const tokenizer = toyTokenizer();
    const run = async (accumulate: "step" | "cumulative", question: string) => {
      const runner = fakeRunner({ outputs: 1, seed: 1 });
      const reference = fakeRunner({ outputs: 1, seed: 2 });
      const prm = createPrm({ model: "toy", convention: implicit(accumulate), tokenizer, runner, reference });
      const [scores] = await prm.score([{ question, response: "It is so.\n\nThen so\n\nEnd" }]);
      return { values: [...scores!.values], batch: runner.batches[0]!, prm };
    };
    const single = await run("step", "a b c d e");
    const sums = await run("cumulative", "a b c d e");
    expect(single.values).toHaveLength(3);
    let total = 0;
    single.values.forEach((value, k) => {
      total += value;
      expect(sums.values[k]).toBeCloseTo(total, 12);
    });
    const { ids, reads, targets } = single.batch;
    const open = tokenizer.encodeChat([{ role: "user", content: "a b c d e" }], {
      addGenerationPrompt: true,
    });
    expect(reads.data[0]).toBe(open.length - 1);
    expect([...targets!.data]).toEqual([...reads.data].map((read) => ids.data[read + 1]));
    expect(tokenizer.decode([...targets!.data])).toBe("It is so.\n\nThen so\n\nEnd");
    const { readsPerStep } = single.prm.prepare({ question: "q", response: "It is so.\n\nThen so\n\nEnd" });
    expect(readsPerStep).toEqual([4, 3, 1]);
  });
});

describe("batches and engines", () => {
  const items = [1, 4, 9].map((count) => ({ question: "What?", steps: steps(count) }));

  it("Soup#298, #301: batched equals per sample, as ragged arrays", async () => {
    const prm = toy();
    const together = await prm.score(items);
    expect(together.map(({ values }) => values.length)).toEqual([1, 4, 9]);
    for (const [i, item] of items.entries())
      expect((await prm.score([item]))[0]!.values).toEqual(together[i]!.values);
  });

  it("reward-bench#137, PR#154: batch size changes nothing, and rows are never padded", async () => {
    const runner = fakeRunner();
    const parts = { model: "toy", convention: qwenLike, tokenizer: toyTokenizer(), runner };
    const small = await createPrm(parts, { batchTokens: 1 }).score(items);
    expect(runner.batches).toHaveLength(3);
    const large = await createPrm(parts, { batchTokens: 1e6 }).score(items);
    expect(runner.batches).toHaveLength(4);
    expect(large).toEqual(small);
    const { ids } = runner.batches[3]!;
    expect(ids.offsets.at(-1)).toBe(ids.data.length);
    expect([...ids.offsets].slice(1).map((end, i) => end - ids.offsets[i]!)).toEqual(
      [...items].reverse().map((item) => createPrm(parts).prepare(item).rows[0]!.ids.length),
    );
  });

  it("LlamaFactory#689: no width to pad to, so none to depend on", async () => {
    const scores = await Promise.all([1e2, 1e3, 1e5].map((batchTokens) => toy({ batchTokens }).score(items)));
    expect(scores[1]).toEqual(scores[0]);
    expect(scores[2]).toEqual(scores[0]);
  });

  it("TRL max_length 1024: a long solution is an error or flagged, never fewer scores", async () => {
    const parts = {
      model: "toy",
      convention: pureLike,
      tokenizer: toyTokenizer(),
      runner: fakeRunner({ maxLength: 64 }),
    };
    const item = { question: "q", steps: steps(20) };
    expect(errorCode(() => createPrm(parts).prepare(item))).toBe("ERR_TOO_LONG");
    const [flagged] = await createPrm(parts, { overlong: "flag" }).score([item]);
    expect(flagged!.values).toHaveLength(20);
    const whole = createPrm({ ...parts, runner: fakeRunner() });
    const [all] = await whole.score([item]);
    expect(flagged!.unscored.length).toBeGreaterThan(10);
    for (let k = 0; k < 20; k++) {
      if (flagged!.unscored.includes(k)) expect(flagged!.values[k]).toBeNaN();
      else expect(flagged!.values[k]).toBe(all!.values[k]);
    }
  });

  it("vllm PR#28194: the same prompt twice gives as many rows each time", async () => {
    const prm = toy();
    const [first, second] = [await prm.score([items[2]!]), await prm.score([items[2]!])];
    expect(second).toEqual(first);
    expect(await prm.score([items[2]!, items[2]!])).toEqual([first[0], first[0]]);
  });

  it("vllm PR#19956: three tags, three rows", async () => {
    expect((await toy().score([{ question: "q", steps: steps(3) }]))[0]!.values).toHaveLength(3);
  });

  it("verl#269, PR#419: each reward with the response token that it belongs to", () => {
    const tokenizer = toyTokenizer();
    const responseIds = [...tokenizer.encode("So 1.\n\nThen 2\n\nEnd."), tokenizer.eosId!];
    const prm = createPrm({ model: "toy", convention: qwenLike, tokenizer, runner: fakeRunner() });
    const { stepEnds, spans, steps: count } = prm.prepare({ question: "q", promptIds: [1], responseIds });
    expect(count).toBe(3);
    expect(stepEnds!.map((end) => tokenizer.tokenText(responseIds[end]!))).toEqual([
      ".\n\n",
      "\n\n",
      "<|eos|>",
    ]);
    const text = "So 1.\n\nThen 2\n\nEnd.";
    expect(spans!.map(({ start, end }) => text.slice(start, end))).toEqual(["So 1.", "Then 2", "End."]);
  });

  it("RLHFlow PR#48, #53: one pass over the turns equals one pass per prefix", async () => {
    const runner = fakeRunner();
    const prm = createPrm({ model: "toy", convention: "rlhflow", tokenizer: toyTokenizer(), runner });
    const [once] = await prm.score([{ question: "q", steps: steps(5) }]);
    expect(runner.batches).toHaveLength(1);
    for (let k = 0; k < 5; k++) {
      const [prefix] = await prm.score([{ question: "q", steps: steps(5).slice(0, k + 1) }]);
      expect(prefix!.values.at(-1)).toBe(once!.values[k]);
    }
  });

  it("DreamPRM: the prefixes of a solution in one packed pass equal separate passes", async () => {
    const runner = fakeRunner();
    const parts = { model: "toy", convention: "dreamprm", tokenizer: toyTokenizer(), runner };
    const item = { question: "q", steps: steps(12) };
    const [packed] = await createPrm(parts).score([item]);
    const [separate] = await createPrm(parts, { packed: false }).score([item]);
    expect(packed).toEqual(separate);
    const [one, ...others] = runner.batches;
    const tokens = (batches: typeof runner.batches): number =>
      batches.reduce((sum, { ids }) => sum + ids.data.length, 0);
    expect(one!.tree).toBeDefined();
    expect(tokens([one!])).toBeLessThan(tokens(others) / 3);
  });

  it("packed prefixes past the context are flagged like separate ones", async () => {
    const parts = {
      model: "toy",
      convention: "dreamprm",
      tokenizer: toyTokenizer(),
      runner: fakeRunner({ maxLength: 80 }),
    };
    const item = { question: "q", steps: steps(12) };
    const [packed] = await createPrm(parts, { overlong: "flag" }).score([item]);
    const [separate] = await createPrm(parts, { overlong: "flag", packed: false }).score([item]);
    expect(packed).toEqual(separate);
    expect(packed!.unscored.length).toBeGreaterThan(0);
    expect(packed!.unscored.length).toBeLessThan(12);
  });
});

const folder = sharedPath("checkpoints", "dreamprm-tiny");
const qwen = sharedPath("checkpoints", "qwen-prm-tiny");

describe.skipIf(folder === undefined)("on real weights", () => {
  let dream: Prm;
  let prm: Prm;
  beforeAll(async () => {
    dream = await loadPrm(folder!, { convention: "dreamprm" });
    prm = await loadPrm(qwen!);
  }, 240_000);
  afterAll(async () => {
    await dream?.close();
    await prm?.close();
  });
  const close = (a: ArrayLike<number>, b: ArrayLike<number>, bound: number): void => {
    expect(a.length).toBe(b.length);
    for (let k = 0; k < a.length; k++) expect(Math.abs(a[k]! - b[k]!)).toBeLessThanOrEqual(bound);
  };

  it("RLHFlow PR#48, #53 / DreamPRM: packed prefixes within 1e-5 of separate passes", async () => {
    const item = { question: "What is it?", steps: steps(12) };
    const apart = await loadPrm(folder!, { convention: "dreamprm", packed: false });
    const [one] = await dream.score([item]);
    const [many] = await apart.score([item]);
    await apart.close();
    close(one!.values, many!.values, 1e-5);
    const conversations = item.steps.map((_, k) => ({
      conversation: [
        { role: "user", content: `${item.question}\n${item.steps.slice(0, k + 1).join("\n")}` },
        { role: "assistant", content: "+" },
      ],
    }));
    const cards = await dream.score(conversations);
    close(
      one!.values,
      cards.map(({ values }) => values[0]!),
      1e-5,
    );
  });

  it("vllm PR#8896: the two-layer head of the Qwen family, with its ReLU", async () => {
    const rows = expectedRows(qwen!);
    const scores = await prm.score(
      rows.map(({ question, steps: s }) => ({ question: question!, steps: s! })),
    );
    scores.forEach(({ values }, i) => {
      close(values, rows[i]!.step_rewards!, 2e-5);
    });
  });

  it("vllm#11568, LlamaFactory#7403, NeMo-Aligner#439: the same ids twice, the same bits", async () => {
    const item = { question: "What is it?", steps: steps(6) };
    const [a, b] = [await prm.score([item]), await prm.score([item])];
    expect(b[0]!.values).toEqual(a[0]!.values);
  });

  it("vllm PR#27145, #23436: a prompt longer than a batch still gives every row", async () => {
    const item = { question: "What is it?", steps: steps(60) };
    const small = await loadPrm(qwen!, { batchTokens: 64 });
    const [chunked] = await small.score([item]);
    await small.close();
    const [whole] = await prm.score([item]);
    close(chunked!.values, whole!.values, 1e-5);
    expect(chunked!.values).toHaveLength(60);
  });

  it("100k tokens are refused before the model runs, soon", async () => {
    const started = performance.now();
    const item = { question: "q", steps: [`${"word ".repeat(100_000)}.`] };
    expect(errorCode(() => prm.prepare(item))).toBe("ERR_TOO_LONG");
    expect(performance.now() - started).toBeLessThan(10_000);
    await expect(prm.score([item])).rejects.toThrow(MinformError);
  });

  it("vllm#22398: a checkpoint of remote code is scored without running any of it", () => {
    expect(prm.convention.name).toBe("qwen-prm");
  });

  it("ReasonFlux#20: a convention whose head the checkpoint lacks is an error at load", async () => {
    await expect(loadPrm(folder!, { convention: "qwen-prm" })).rejects.toMatchObject({
      code: "ERR_CONVENTION",
    });
    await expect(loadPrm(folder!, { convention: "pure" })).rejects.toThrow(
      /expected a token-classification head/,
    );
  });
});
