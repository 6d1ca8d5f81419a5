import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  createPrm,
  detectConvention,
  families,
  parseConvention,
  type PrmItem,
  resolveConvention,
  scoreWith,
} from "../../lib/prm/index.ts";
import { errorCode } from "../support/compare.ts";
import { fakeRunner } from "../support/runner.ts";
import { plainLike as plain, toyParts } from "../support/toy-prm.ts";
import { toyTokenizer } from "../support/toy-tokenizer.ts";

const make = (options = {}, runner = fakeRunner()) =>
  createPrm(toyParts({ convention: plain, runner }), options);
const items: PrmItem[] = Array.from({ length: 17 }, (_, i) => ({
  question: `q ${i}`,
  steps: Array.from({ length: 1 + ((i * 7) % 5) }, (__, k) => `step ${k} of ${i}.`),
}));

describe("Prm", () => {
  it("streams in input order, the same scores as in one call, reading no further than a window", async () => {
    const prm = make({ batchTokens: 40 });
    const all = await prm.score(items);
    let taken = 0;
    const source = (function* () {
      for (const item of items) {
        taken++;
        yield item;
      }
    })();
    const streamed = [];
    for await (const scores of prm.stream(source, { windowTokens: 60 })) {
      if (streamed.length === 0) expect(taken).toBeLessThan(items.length);
      streamed.push(scores);
    }
    expect(streamed).toEqual(all);
  });

  it("a bad item in a stream throws at its place, after the scores before it", async () => {
    const prm = make();
    const seen: number[] = [];
    const bad = { question: "q", steps: [] };
    const consume = async (): Promise<void> => {
      for await (const { values } of prm.stream([items[0]!, items[1]!, bad, items[2]!]))
        seen.push(values.length);
    };
    await expect(consume()).rejects.toThrow(/items\[2\]: steps/);
    expect(seen).toHaveLength(2);
  });

  it("tells progress and stops between batches", async () => {
    const controller = new AbortController();
    const runner = fakeRunner();
    const seen: number[] = [];
    const scoring = make({ batchTokens: 1 }, runner).score(items, {
      signal: controller.signal,
      onProgress: ({ items: done, totalItems }) => {
        expect(totalItems).toBe(items.length);
        seen.push(done);
        if (done === 3) controller.abort(new Error("enough"));
      },
    });
    await expect(scoring).rejects.toThrow("enough");
    expect(seen).toEqual([1, 2, 3]);
    expect(runner.batches).toHaveLength(3);
  });

  it("longest first", async () => {
    const runner = fakeRunner();
    await make({ batchTokens: 1 }, runner).score(items);
    const lengths = runner.batches.map(({ ids }) => ids.data.length);
    expect(lengths).toEqual([...lengths].sort((a, b) => b - a));
  });

  it("closes its models", async () => {
    const runner = fakeRunner();
    {
      await using prm = make({}, runner);
      expect(prm.maxLength).toBe(4096);
    }
    expect(runner.closed).toBe(true);
  });

  it.each<[string, unknown, string]>([
    ["no object", 5, "ERR_ARGUMENT_TYPE"],
    ["no steps", { question: "q", steps: [] }, "ERR_SHAPE"],
    ["a blank step", { question: "q", steps: ["a", " \n"] }, "ERR_ARGUMENT_VALUE"],
    ["a step that is no text", { question: "q", steps: [1] }, "ERR_ARGUMENT_TYPE"],
    ["steps that are no list", { question: "q", steps: "a" }, "ERR_ARGUMENT_TYPE"],
    ["no question", { steps: ["a"] }, "ERR_ARGUMENT_TYPE"],
    ["a blank response", { question: "q", response: "\n\n \n\n" }, "ERR_SHAPE"],
    ["ids without a question", { promptIds: [1], responseIds: [2] }, "ERR_ARGUMENT_TYPE"],
    ["a conversation", { conversation: [{ role: "user", content: "x" }] }, "ERR_CONVENTION"],
  ])("refuses %s", (_, item, code) => {
    expect(errorCode(() => make().prepare(item as PrmItem))).toBe(code);
  });

  it("refuses ids that are none, and conversations that are none", () => {
    const tokenizer = toyTokenizer();
    const policy = { ...plain, policy: { separator: "\n\n", replace: { text: "\n" } } };
    const prm = createPrm(toyParts({ convention: policy, tokenizer }));
    expect(errorCode(() => prm.prepare({ promptIds: [1.5], responseIds: [2] }))).toBe("ERR_ARGUMENT_VALUE");
    expect(errorCode(() => prm.prepare({ promptIds: [1], responseIds: [] }))).toBe("ERR_SHAPE");
    const dream = createPrm(toyParts({ convention: "dreamprm", tokenizer }));
    expect(errorCode(() => dream.prepare({ conversation: [] }))).toBe("ERR_ARGUMENT_TYPE");
    expect(errorCode(() => dream.prepare({ conversation: [{ role: "user" } as never] }))).toBe(
      "ERR_ARGUMENT_TYPE",
    );
  });

  it("judges beams with its own aggregator", async () => {
    const prm = make();
    const [score] = Array.from(await scoreWith(prm)("q 0", [["step 0 of 0.\n\n"]], {}));
    const [alone] = await prm.score([{ question: "q 0", steps: ["step 0 of 0."] }]);
    expect(score).toBe(alone!.values[0]);
    expect(errorCode(() => scoreWith(prm, "median"))).toBe("ERR_ARGUMENT_VALUE");
  });
});

describe("conventions", () => {
  it("the built-in ones are data: they survive JSON", () => {
    expect(Object.keys(families)).toEqual([
      "pure",
      "dreamprm",
      "qwen-prm",
      "reasonflux",
      "skywork",
      "math-shepherd",
      "er-prm",
      "openr",
      "versaprm",
      "rlhflow",
      "universal",
      "eurusprm",
    ]);
    for (const convention of Object.values(families))
      expect(parseConvention(JSON.parse(JSON.stringify(convention)))).toEqual(convention);
  });

  it("comes from a name, a file or an object", () => {
    const folder = mkdtempSync(join(tmpdir(), "minform-convention-"));
    try {
      const file = join(folder, "mine.json");
      writeFileSync(file, JSON.stringify(plain));
      expect(resolveConvention(file)).toEqual(parseConvention(plain));
      expect(resolveConvention("pure")).toBe(families.pure);
      expect(() => resolveConvention("none")).toThrow(/expected one of pure, dreamprm/);
      expect(() => resolveConvention("constructor")).toThrow(/expected one of/);
      expect(errorCode(() => resolveConvention(join(folder, "no.json")))).toBe("ERR_CONVENTION");
      writeFileSync(file, "{");
      expect(errorCode(() => resolveConvention(file))).toBe("ERR_CONVENTION");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.each<[string, object, RegExp]>([
    ["an unknown field", { sepatator: 1 }, /sepatator/],
    ["a range that the transform does not give", { range: "signed" }, /softmax gives probability/],
    ["no good class", { score: { transform: "softmax" } }, /score\.good/],
    ["labels without an LM head", { labels: ["+", "-"] }, /labels/],
    ["an LM head without labels", { head: "lm-rows" }, /labels/],
    ["reading before nothing", { read: "before" }, /read/],
    [
      "whole text without a marker",
      { input: { form: "plain", prompt: "{question}", tokenise: "whole" } },
      /marker/,
    ],
    ["a prompt without the question", { input: { ...plain.input, prompt: "Q" } }, /\{question\}/],
    ["no separator", { input: { form: "plain", prompt: "{question}", tokenise: "parts" } }, /separator/],
  ])("refuses %s", (_, change, message) => {
    expect(() => parseConvention({ ...plain, ...change })).toThrow(message);
    expect(errorCode(() => parseConvention({ ...plain, ...change }))).toBe("ERR_CONVENTION");
  });

  it("a head that does not fit is an error at load", () => {
    expect(() => make({}, fakeRunner({ outputs: 1 }))).toThrow(/at least 2/);
    expect(() => createPrm(toyParts({ convention: plain, reference: fakeRunner() }))).toThrow(
      /takes no reference/,
    );
    expect(() => createPrm(toyParts({ convention: "eurusprm", runner: fakeRunner({ outputs: 1 }) }))).toThrow(
      /needs a reference/,
    );
  });

  it("a literal {step} in a question is text, and a numbered step is not numbered twice", () => {
    const tokenizer = toyTokenizer();
    const numbered = {
      ...plain,
      name: "numbered",
      input: { ...plain.input, prompt: "{question} ", step: "Step {n}: {step}" },
    };
    const prm = createPrm(toyParts({ convention: numbered, tokenizer }));
    const text = (item: PrmItem): string => tokenizer.decode([...prm.prepare(item).rows[0]!.ids]);
    expect(text({ question: "{step} {n}", steps: ["{question}", "Step 2: b"] })).toBe(
      "{step} {n} Step 1: {question}\nStep 2: b\n",
    );
  });
});

describe("detection", () => {
  const detect = (heads: Parameters<typeof detectConvention>[0]["heads"], source = "dir") =>
    detectConvention({ source, heads, tokenizer: toyTokenizer() });

  it("asks where an LM head is all there is, and for a scalar", () => {
    expect(errorCode(() => detect([{ kind: "lm" }]))).toBe("ERR_CONVENTION_UNKNOWN");
    expect(() => detect([{ kind: "lm" }])).toThrow(/dreamprm, rlhflow/);
    expect(errorCode(() => detect([{ kind: "scalar" }]))).toBe("ERR_CONVENTION_UNKNOWN");
    expect(errorCode(() => detect([]))).toBe("ERR_CONVENTION_UNKNOWN");
    expect(errorCode(() => detect([{ kind: "value" }, { kind: "mlp", classes: 2 }]))).toBe(
      "ERR_CONVENTION_UNKNOWN",
    );
  });

  it("takes a value head for Skywork, beside an LM head too", () => {
    expect(detect([{ kind: "value" }, { kind: "lm" }]).convention.name).toBe("skywork");
  });

  it("knows hub ids, also as folders of the cache", () => {
    expect(detect([{ kind: "lm" }], "RLHFlow/Llama3.1-8B-PRM-Deepseek-Data").convention.name).toBe("rlhflow");
    const cache = "/c/hub/models--Yingqian--dream_prm_math_7b/snapshots/abc";
    expect(detect([{ kind: "lm" }], cache).convention.name).toBe("dreamprm");
    expect(errorCode(() => detect([{ kind: "lm" }], "someone/Llama3.1-8B-PRM-Deepseek-Data"))).toBe(
      "ERR_CONVENTION_UNKNOWN",
    );
  });
});
