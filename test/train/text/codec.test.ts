import fc from "fast-check";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { arithmeticCodec } from "../../../lib/train/arithmetic/codec.ts";
import { writeArithmeticTokenizer } from "../../../lib/train/arithmetic/checkpoint.ts";
import { EOS, PAD, TOKENS } from "../../../lib/train/arithmetic/vocabulary.ts";
import { openCodec, promptIds } from "../../../lib/train/text/codec.ts";
import { seeded } from "../../support/generators.ts";
import { temporaryFolder } from "../../support/checkpoint.ts";
import { rejection } from "../../support/errors.ts";
import { IDS, writeTokenizer } from "../../support/tokenizer.ts";

const folder = await temporaryFolder();
const file = (name: string, value: object) => writeFileSync(join(folder, name), JSON.stringify(value));

describe("the embedded vocabulary", () => {
  it("is the same from its files as built in", async () => {
    const at = join(folder, "arithmetic");
    await writeArithmeticTokenizer(at);
    const codec = await openCodec(at);
    expect([codec.bosId, codec.eosId, codec.padId]).toEqual([1, 2, 0]);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 3, max: TOKENS.length - 1 }), { maxLength: 30 }), (ids) => {
        const text = arithmeticCodec.decode(ids);
        expect(codec.decode([1, ...ids, EOS, PAD])).toBe(text);
        expect(codec.encode(text)).toEqual(arithmeticCodec.encode(text));
        expect(codec.decode(codec.encode(text))).toBe(text);
      }),
      seeded,
    );
    expect(Array.from(promptIds(codec, "4-3="))).toEqual([1, 13, 8, 12, 6]);
  });
});

describe("characters", () => {
  it("have ids from 4 on; a chat prompt ends with the separator; special ids are silent", async () => {
    file("tokenizer_config.json", { char_ords: [48, 49, 44, 58] });
    const codec = await openCodec(folder);
    expect(codec.encode("0,1:")).toEqual([4, 6, 5, 7]);
    expect(codec.decode([0, 5, 4, 1, 2])).toBe("10");
    expect(codec.encodeChat?.([{ role: "user", content: "1,0" }])).toEqual([5, 6, 4, 0]);
    expect([codec.bosId, codec.eosId, codec.padId]).toEqual([undefined, 1, 2]);
    expect(() => codec.encode("12")).toThrow(/got "2"/);
  });

  it.each([[[-1]], ["0123"], [[0.5]]])("rejects char_ords %j", async (char_ords) => {
    file("tokenizer_config.json", { char_ords });
    expect(await rejection(() => openCodec(folder))).toMatchObject({
      code: "ERR_INPUT",
      message: expect.stringContaining("char_ords: expected a list of character codes"),
    });
  });
});

describe("a tokenizer.json", () => {
  const at = join(folder, "chat");
  writeTokenizer(at);

  it("starts prompts with its first token only where the config says so", async () => {
    const codec = await openCodec(at);
    expect(codec.bosId).toBeUndefined();
    const path = join(at, "tokenizer_config.json");
    const config = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
    writeFileSync(path, JSON.stringify({ ...config, add_bos_token: true }));
    const starting = await openCodec(at);
    expect(starting.bosId).toBe(IDS.bos);
    expect(promptIds(starting, "hi")[0]).toBe(IDS.bos);
  });

  it("puts a chat up to the assistant's words", async () => {
    const codec = await openCodec(at);
    const ids = codec.encodeChat!([{ role: "user", content: "hi" }]);
    expect(codec.decode(ids)).toMatch(/user\nhi.*assistant\n$/s);
  });

  it("is missed by name", async () => {
    expect(await rejection(() => openCodec(join(folder, "none")))).toMatchObject({
      code: "ERR_INPUT",
      message: `${join(folder, "none")}: has no tokenizer.json`,
    });
  });
});
