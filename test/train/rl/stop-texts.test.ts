// Texts that end a response: where it is cut, and that it is not written to its end first.
import { afterEach, describe, expect, it, vi } from "vitest";
import { ragged, row } from "../../../lib/ragged.ts";
import { arithmeticCodec } from "../../../lib/train/arithmetic/codec.ts";
import type { PromptRow } from "../../../lib/train/data/prompts.ts";
import { createModel } from "../../../lib/train/engine/index.ts";
import { engineGenerator } from "../../../lib/train/rl/generator.ts";
import { cutAtTexts, holdsText } from "../../../lib/train/rl/stop-texts.ts";
import type { GenerateRequest } from "../../../lib/train/rl/types.ts";
import type { TextCodec } from "../../../lib/train/text/codec.ts";
import { expectSameBits } from "../../support/compare.ts";
import { countWritten } from "../../support/written.ts";

// Tokens that are bytes, parts of characters, texts, and nothing.
const PIECES = [[0xe2], [0x82], [0xac], [0x61], [0x62], [0x61, 0x62], [0xac, 0x0a, 0xe2], [0x0a], []];
const codec: TextCodec = {
  encode: () => {
    throw new Error("never encodes");
  },
  decode: (ids) => Buffer.from(Array.from(ids).flatMap((id) => PIECES[id]!)).toString("utf8"),
};
const model = createModel(
  {
    model_type: "llama",
    vocab_size: PIECES.length,
    hidden_size: 16,
    intermediate_size: 24,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    max_position_embeddings: 5000,
  },
  { heads: { lm: true }, seed: 3 },
);
const prompts: PromptRow[] = [[1, 2, 3], [7], [4, 4, 8]].map((ids, i) => ({
  id: String(i),
  text: "",
  ids: Int32Array.from(ids),
  answer: null,
}));
const request: GenerateRequest = {
  prompts,
  n: 6,
  firstSample: 0,
  maxTokens: 200,
  temperature: 0.9,
  stopIds: [],
  stop: [],
  seed: 5,
};

afterEach(() => vi.restoreAllMocks());

describe("responses", () => {
  it("end at the first token that completes a stop text", () => {
    const rows = ["1+2=3\n\n\\boxed{3}", "1+2", "="].map((text) => arithmeticCodec.encode(text));
    const drawn = {
      tokens: ragged(rows, "int32"),
      logProbs: ragged(
        rows.map((one) => one.map((_, i) => -i)),
        "float32",
      ),
      stopped: Uint8Array.of(0, 0, 1),
    };
    const { tokens, logProbs, stopped } = cutAtTexts(drawn, ["=3", "}"], arithmeticCodec);
    expect(Array.from(tokens.offsets)).toEqual([0, 5, 8, 9]);
    expect(arithmeticCodec.decode(row(tokens, 0))).toBe("1+2=3");
    expect(Array.from(row(logProbs, 0), (x) => x + 0)).toEqual([0, -1, -2, -3, -4]);
    expect(Array.from(stopped)).toEqual([1, 0, 1]);
  });

  it.each([
    { stop: ["bb"], batch: 256 }, // within a token and across two
    { stop: ["€"], batch: 3 }, // three tokens, or an end of another text's
    { stop: ["b€", "€\n"], batch: 1 },
    { stop: ["€", "abab"], batch: 7, stopIds: [7] },
    { stop: ["never"], batch: 256 },
  ])("are those of a generation to the end, cut at $stop: $batch at a time", async ({ batch, ...more }) => {
    const whole = await engineGenerator(model, codec).generate({ ...request, ...more, stop: [] });
    const cut = cutAtTexts(whole, more.stop, codec);
    const drawn = await engineGenerator(model, codec, batch).generate({ ...request, ...more });
    expect(drawn.tokens).toEqual(cut.tokens);
    expectSameBits(drawn.logProbs.data, cut.logProbs.data);
    expect(drawn.stopped).toEqual(cut.stopped);
    const shorter = cut.tokens.data.length < whole.tokens.data.length;
    expect(shorter).toBe(more.stop[0] !== "never");
  });

  it("are not written much further than their text", async () => {
    const written = countWritten();
    const maxTokens = 4000;
    const { tokens, stopped } = await engineGenerator(model, codec, 6).generate({
      ...request,
      maxTokens,
      stop: ["bb"],
    });
    expect(stopped.every((one) => one === 1)).toBe(true);
    expect(written()).toBeGreaterThanOrEqual(tokens.data.length);
    expect(written()).toBeLessThan((18 * maxTokens) / 2);
  });
});

describe("a question", () => {
  it.each([
    ["a text", "bb", [4, 4]],
    ["a text of several characters of several tokens", "€€€", [0, 1, 2, 0, 1, 2, 0, 1, 2]],
    ["a text within other characters", "€", [0, 1, 6]],
    ["a text that ends within a token", "ba", [4, 5]],
  ])("finds %s wherever it is, at once", (_, text, ids) => {
    const isDone = holdsText([text, "never"], codec);
    for (let before = 0; before < 70; before++) {
      const tokens = Int32Array.from([
        ...new Array<number>(before).fill(3),
        ...ids,
        ...new Array<number>(60).fill(3),
      ]);
      const complete = before + ids.length;
      for (let asked = 16; asked < tokens.length; asked += 16) {
        if (isDone(tokens.subarray(0, asked)) !== asked >= complete)
          expect.fail(`complete after ${complete} tokens, asked at ${asked}`);
        if (asked >= complete) break;
      }
    }
  });

  it("decodes little more than what is new", () => {
    let decoded = 0;
    const decode = (ids: ArrayLike<number>) => {
      decoded += ids.length;
      return codec.decode(ids);
    };
    holdsText(["bb"], { ...codec, decode })(new Int32Array(1600).fill(3));
    expect(decoded).toBeLessThan(32);
  });
});
