// Faults that users of other scorers reported, by where: what is tokenised how, and which token is read.
import { beforeAll, describe, expect, it } from "vitest";
import type { Tokenizer } from "../../lib/model/index.ts";
import { createPrm, families, parseConvention, type Prm } from "../../lib/prm/index.ts";
import { unescapeText } from "../../lib/cli/prm-options.ts";
import { errorCode } from "../support/compare.ts";
import { sharedPath, tokenizerOf } from "../support/checkpoints.ts";
import { fakeRunner } from "../support/runner.ts";
import { toyParts } from "../support/toy-prm.ts";
import { toyTokenizer } from "../support/toy-tokenizer.ts";

const present = sharedPath("checkpoints") !== undefined;
if (!present) console.info("prm faults on real vocabularies: skipped, no shared data");

describe.skipIf(!present)("step location in real vocabularies", () => {
  let qwen: Tokenizer;
  let qwenPrm: Tokenizer;
  let mistral: Tokenizer;
  const make = (
    convention: Parameters<typeof createPrm>[0]["convention"],
    tokenizer: Tokenizer,
    outputs = 2,
  ): Prm => createPrm(toyParts({ convention, tokenizer, runner: fakeRunner({ outputs }) }));
  beforeAll(async () => {
    qwen = await tokenizerOf(sharedPath("checkpoints", "dreamprm-tiny")!);
    qwenPrm = await tokenizerOf(sharedPath("checkpoints", "qwen-prm-tiny")!);
    mistral = await tokenizerOf(sharedPath("checkpoints", "shepherd-tiny")!);
  }, 240_000);

  it("ProcessBench PR#12: the separator is added as ids, not as text", () => {
    const { rows } = make("pure", qwen).prepare({ question: "q", steps: ["x = 8.", "So y = 3)"] });
    expect(rows[0]!.ids).toEqual([
      ...qwen.encode("q"),
      ...qwen.encode("x = 8."),
      198,
      ...qwen.encode("So y = 3)"),
      198,
    ]);
    expect(rows[0]!.reads).toHaveLength(2);
    expect(rows[0]!.ids[rows[0]!.reads[0]! - 1]).toBe(13);
    expect(qwen.encode("x = 8.\n").at(-1)).toBe(624);
  });

  it("openr#64, #14: a tag that merged with the text is an error, never an empty list", () => {
    const prm = make("math-shepherd", mistral);
    expect(prm.prepare({ question: "q", steps: ["a."] }).rows[0]!.reads).toHaveLength(1);
    const glued = {
      ...families["math-shepherd"]!,
      name: "glued",
      input: { ...families["math-shepherd"]!.input, step: "Step {n}: {step}ки" },
    };
    const broken = make(glued as never, mistral);
    expect(() => broken.prepare({ question: "q", steps: ["a."] })).toThrow(/expected 1 step marker, found 0/);
    expect(errorCode(() => broken.prepare({ question: "q", steps: ["a."] }))).toBe("ERR_STEP_READS");
  });

  it("a step that holds the tag itself is an error, not a shifted score", () => {
    const prm = make("math-shepherd", mistral);
    expect(() => prm.prepare({ question: "q", steps: ["a ки b", "c"] })).toThrow(
      /expected 2 step markers, found 3/,
    );
  });

  it("OpenRLHF#683: a placeholder that is another token in context is refused at load", () => {
    const { marker: _, ...rest } = families["math-shepherd"]!;
    const convention = { ...rest, name: "no-blank", marker: { text: "ки" } };
    expect(() => make(convention as never, mistral)).toThrow(
      /to be one token after "a" and the same as alone/,
    );
    expect(() => make("math-shepherd", qwen)).toThrow(/to be one token after/);
  });

  it("search-and-learn#43, PR#52: a stock tokenizer without the marker is refused by name and id", () => {
    expect(() => make("qwen-prm", qwen)).toThrow(/no added token <extra_0> \(id 151651\).*<\|quad_end\|>/);
    // "a", then five tokens, the first of which has taken the full stop
    const split = qwen.encode("a.<extra_0>");
    expect(split).toHaveLength(6);
    expect(qwen.tokenText(split[1]!)).toBe(".<");
  });

  it("the literal text <extra_0> in a step or a question stays text", () => {
    const prm = make("qwen-prm", qwenPrm);
    const { rows } = prm.prepare({ question: "<extra_0>?", steps: ["a<extra_0>", "<|im_end|>b"] });
    expect(rows[0]!.ids.filter((id) => id === 151651)).toHaveLength(2);
    expect(rows[0]!.ids.filter((id) => id === 151645)).toHaveLength(3);
    expect(rows[0]!.reads).toEqual(rows[0]!.ids.flatMap((id, i) => (id === 151651 ? [i] : [])));
  });

  it("vllm#16545: the labels of '+/-' PRMs are rows of the LM head, by the vocabulary's own ids", async () => {
    const seen: number[][] = [];
    const runner = fakeRunner({
      logits: (ids) => {
        seen.push([...ids]);
        return [2, 0.5];
      },
    });
    const prm = createPrm(toyParts({ convention: "math-shepherd", tokenizer: mistral, runner }));
    const [scores] = await prm.score([{ question: "q", steps: ["a.", "b."] }]);
    expect(seen.map((ids) => ids.at(-1))).toEqual([12902, 12902]);
    expect(scores!.values[0]).toBeCloseTo(Math.exp(2) / (Math.exp(2) + Math.exp(0.5)), 12);
    expect([mistral.encode("+"), mistral.encode("-")]).toEqual([[648], [387]]);
  });

  it("'+' has several ids: families differ, and each takes its own", () => {
    expect([qwen.encode("+"), qwen.encode("-"), qwen.encode(" +"), qwen.encode(" -")]).toEqual([
      [10],
      [12],
      [488],
      [481],
    ]);
    expect(() => make({ ...families.dreamprm!, name: "twice", labels: ["+", 10] } as never, qwen)).toThrow(
      /expected distinct tokens/,
    );
    expect(() => make({ ...families.dreamprm!, name: "long", labels: ["+1", "-"] } as never, qwen)).toThrow(
      /expected "\+1" to be one token/,
    );
  });

  it("VersaPRM and OpenR find their newline tags in the Qwen vocabulary", () => {
    const versa = make("versaprm", qwen).prepare({ question: "q", steps: ["a.", "b)"] });
    expect(versa.rows[0]!.reads.map((read) => versa.rows[0]!.ids[read])).toEqual([22701, 22701]);
    const openr = make("openr", qwen).prepare({ question: "q", steps: ["a.", "b)"] });
    expect(openr.rows[0]!.reads.map((read) => openr.rows[0]!.ids[read])).toEqual([76325, 76325]);
  });

  it("Skywork: BOS where the tokenizer has one, question and newline, lines closed by the newline token", () => {
    const { rows } = make("skywork", qwen, 1).prepare({ question: "What?", response: "Step one.\nStep two" });
    expect(rows[0]!.ids).toEqual([
      ...qwen.encode("What?\n"),
      ...qwen.encode("Step one."),
      198,
      ...qwen.encode("Step two"),
      198,
    ]);
  });

  it("PURE in both forms: text keeps the punctuation that the policy form replaces", () => {
    const prm = make("pure", qwen);
    const response = qwen.encode("It is 8.\n\nDone");
    expect(response).toContain(382);
    const policy = prm.prepare({ promptIds: [1, 2], responseIds: [...response, 151645] });
    expect(policy.rows[0]!.ids).toHaveLength(2 + response.length + 1);
    expect(policy.stepEnds).toEqual([response.indexOf(382), response.length]);
    expect(policy.rows[0]!.ids).not.toContain(13);
    const text = prm.prepare({ question: "q", response: "It is 8.\n\nDone" });
    expect(text.rows[0]!.ids).toContain(13);
    expect(text.spans).toEqual([
      { start: 0, end: 8 },
      { start: 10, end: 14 },
    ]);
  });

  it("PURE: a truncated response ends its last step at its last token; a closing separator makes an empty step", () => {
    const prm = make("pure", qwen);
    const cut = qwen.encode("A.\n\nB and");
    expect(prm.prepare({ promptIds: [1], responseIds: cut }).stepEnds).toEqual([1, cut.length - 1]);
    const closed = [...qwen.encode("A.\n\n"), 151645];
    expect(prm.prepare({ promptIds: [1], responseIds: closed }).stepEnds).toEqual([1, 2]);
    const onSeparator = qwen.encode("A.\n\nB.\n\n");
    expect(prm.prepare({ promptIds: [1], responseIds: onSeparator }).stepEnds).toEqual([1, 3]);
  });
});

describe("conventions that cannot be right", () => {
  it("llama.cpp#7384: a separator of backslash and n is refused in JSON, and unescaped on the command line", () => {
    const wrong = { ...families.pure!, split: "\\n" };
    expect(() => parseConvention(wrong)).toThrow(/backslash followed by n/);
    expect(() =>
      parseConvention({ ...families.pure!, policy: { separator: "\\n\\n", replace: { ids: [198] } } }),
    ).toThrow(/policy\.separator/);
    expect(unescapeText("\\n\\n")).toBe("\n\n");
    expect(unescapeText("a\\\\n")).toBe("a\\n");
  });

  it("vllm#12791: a softmax over the one logit of a scalar head is refused", () => {
    const wrong = { ...families.universal!, score: { transform: "softmax", good: 0 }, range: "probability" };
    expect(() => parseConvention(wrong)).toThrow(/never a softmax over one class/);
    const make = (): Prm => createPrm(toyParts({ convention: "pure", runner: fakeRunner({ outputs: 1 }) }));
    expect(make).toThrow(/convention pure/);
  });

  it("a missing marker, separator or template is named", () => {
    const tokenizer = toyTokenizer({ without: ["<extra_0>"] });
    expect(() => createPrm(toyParts({ convention: "qwen-prm", tokenizer }))).toThrow(/<extra_0>/);
    const noChat = toyTokenizer({ chat: false });
    expect(() => createPrm(toyParts({ convention: "dreamprm", tokenizer: noChat }))).toThrow(
      /needs a chat template/,
    );
  });
});
