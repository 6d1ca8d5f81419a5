import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { arithmeticCodec as codec } from "../../../lib/train/arithmetic/codec.ts";
import { readPrompts, readSftRows, readStepwiseRows } from "../../../lib/train/data/index.ts";
import { openCodec, promptIds } from "../../../lib/train/text/codec.ts";
import { temporaryFolder } from "../../support/checkpoint.ts";
import { sharedPath } from "../../support/checkpoints.ts";
import { rejection } from "../../support/errors.ts";

const folder = await temporaryFolder();
const digits = sharedPath("data/verl-digit-completion");
const bench = sharedPath("data/processbench/gsm8k.json");
const record = sharedPath("data/prm800k-examples/prm800k-phase2-test-example.json");
let files = 0;
function lines(...rows: (object | string)[]): string {
  const path = join(folder, `${files++}.jsonl`);
  writeFileSync(path, rows.map((row) => `${typeof row === "string" ? row : JSON.stringify(row)}\n`).join(""));
  return path;
}

describe("readPrompts", () => {
  it("finds prompt, answer, id and level under their usual names", async () => {
    const path = lines({ problem: "1+1=", answer: 2, unique_id: "a", level: "Level 3" }, "", {
      question: "2+1=",
    });
    expect(await readPrompts(path, codec)).toEqual([
      { id: "a", text: "1+1=", ids: Int32Array.of(1, 10, 7, 10, 6), answer: "2", level: 3 },
      { id: "1", text: "2+1=", ids: Int32Array.of(1, 11, 7, 10, 6), answer: null },
    ]);
  });

  it("takes one object over many lines as a row", async () => {
    const path = lines(JSON.stringify({ prompt: "1+1=", answer: 2 }, null, 2), "");
    expect(await readPrompts(path, codec)).toMatchObject([{ text: "1+1=", answer: "2" }]);
  });

  it("takes names of one's own, with dots", async () => {
    const path = lines({ q: "1+1=", reward_model: { ground_truth: "2" }, hard: 4 });
    const keys = { prompt: "q", answer: "reward_model.ground_truth", level: "hard" };
    const [row] = await readPrompts(path, codec, { keys });
    expect(row).toMatchObject({ text: "1+1=", answer: "2", level: 4 });
  });

  it("takes a list of answers together, as an evaluation does", async () => {
    const path = lines({ prompt: "1+1=", final_answer: ["2"] }, { prompt: "1+1=", final_answer: [2, "3"] });
    expect((await readPrompts(path, codec)).map(({ answer }) => answer)).toEqual(["2", "2, 3"]);
  });

  it("puts a template around texts, not around chats; the text stays what is asked", async () => {
    const chat = { ...codec, encodeChat: () => [9, 8] };
    const path = lines({ prompt: "1+1=", answer: 2 }, { prompt: [{ role: "user", content: "1+2=" }] });
    const template = "3+{prompt}";
    const [text, turns] = await readPrompts(path, chat, { template });
    expect(text).toEqual({ id: "0", text: "1+1=", ids: promptIds(codec, "3+1+1="), answer: "2" });
    expect(turns).toMatchObject({ text: "1+2=", ids: Int32Array.of(9, 8) });
    const [made] = await readPrompts("arithmetic:train", codec, { template, limit: 1 });
    expect(made!.ids).toEqual(promptIds(codec, `3+${made!.text}`));
  });

  it("puts a prompt with dollars into a template as it is", async () => {
    const bytes = { encode: (text: string) => [...Buffer.from(text)], decode: () => "" };
    const [row] = await readPrompts(lines({ prompt: "$&$1$$" }), bytes, { template: "<{prompt}>" });
    expect(Buffer.from(row!.ids).toString()).toBe("<$&$1$$>");
  });

  it.each(["", "{prompt}{prompt}", 3])("refuses %j as template", async (template) => {
    const error = await rejection(() => readPrompts("arithmetic:train", codec, { template } as never));
    expect(error.message).toContain("template: expected a text that holds {prompt} once, got");
  });

  it.skipIf(digits === undefined)("reads parquet with chats through a chat template", async () => {
    const rows = await readPrompts(join(digits!, "train.parquet"), await openCodec(digits!), { limit: 3 });
    expect(rows.map(({ text, ids }) => [text, ids.length, ids.at(-1)])).toEqual([
      ["8,3:9,4", 8, 0],
      ["3,3:9,6", 8, 0],
      ["5,8:9,0", 8, 0],
    ]);
  });

  it("makes two sets of the embedded task that share no prompt, the same for the same seed", async () => {
    const texts = async (split: string, seed = 1) =>
      (await readPrompts(`arithmetic:${split}`, codec, { limit: 1500, seed })).map(({ text }) => text);
    const [train, heldOut] = [await texts("train"), await texts("held-out")];
    expect(train.filter((text) => new Set(heldOut).has(text))).toEqual([]);
    expect(await texts("train")).toEqual(train);
    expect(await texts("train", 2)).not.toEqual(train);
    const [row] = await readPrompts("arithmetic:train", codec, { limit: 1 });
    expect(row!.level).toBe(row!.text.match(/[+-]/g)!.length);
  });

  it.each([
    [[{ prompt: "1+1=" }, { prompt: 5 }], ":2: expected text at prompt or problem or question, got number"],
    [[{ prompt: "1+1=" }, "{"], ":2: no JSON"],
    [[{ prompt: "1+1=" }, "[1]"], ":2: expected a JSON object"],
    [["[1]"], ": row 1: expected an object, got 1"],
    [
      ["prompt: 1+1="],
      "is not valid JSON; expected JSON Lines (an object a line), one array of objects, or one object",
    ],
    [
      ["", "{", '  "prompt": "1+1="', "}", "", "the end"],
      ":6: text after the JSON that begins the file; expected",
    ],
    [["{", '  "prompt": "1+1="', '  "answer": 2', "}"], ":3: no JSON: Expected ',' or '}'"],
    [["{", '  "prompt": "1+1="'], ":2: no JSON: "],
    [['{ "prompt": "1+1=', '{ "prompt": "1+1=" }'], ":1: no JSON: "],
    [
      [
        { id: "x", prompt: "1+1=" },
        { id: "x", prompt: "1+1=" },
      ],
      "0.jsonl:1 has the same id, x",
    ],
    [
      [{ prompt: [{ role: "user", content: "1+1=" }] }],
      ":1: the prompt is a chat, and the tokenizer has no chat template",
    ],
    [[{ prompt: "abc" }], ":1: text: expected digits"],
    [
      [{ prompt: "1+1=", answer: { a: 2 } }],
      ":1: expected text or a number of at most 15 digits at answer or",
    ],
    [
      [{ prompt: "1+1=", answer: ["2", null] }],
      ":1: expected text or a number of at most 15 digits at answer or",
    ],
    [[{ prompt: "1+1=", answer: [] }], ":1: expected text or a number of at most 15 digits at answer or"],
    [['{ "prompt": "1+1=", "answer": 12345678901234567890 }'], " got 12345678901234567000"],
    [[{ prompt: "1+1=", id: {} }], ":1: expected text or a number of at most 15 digits at id or unique_id"],
    [[], ": has no rows"],
  ])("names file and line: %j", async (rows, message) => {
    const path = lines(...rows);
    const error = await rejection(() => readPrompts(path, codec));
    expect(error.code).toBe("ERR_INPUT");
    expect(error.message).toContain(message.replace("0.jsonl", path));
    expect(error.message.startsWith(path)).toBe(true);
  });

  it("rejects a split that is not there, and a file that is not there", async () => {
    expect((await rejection(() => readPrompts("arithmetic:test", codec))).message).toBe(
      "arithmetic:test: expected arithmetic:train or arithmetic:held-out",
    );
    expect((await rejection(() => readPrompts(join(folder, "no.jsonl"), codec))).message).toMatch(
      /no\.jsonl/,
    );
  });
});

describe("readSftRows", () => {
  const turn = (role: string, content: string) => ({ role, content });

  it("ends completions with the end token", async () => {
    const path = lines({ prompt: "1+1=", completion: "\\boxed{2}" }, { question: "1+1=", solution: "2" });
    expect(await readSftRows(path, codec)).toEqual([
      { prompt: Int32Array.of(1, 10, 7, 10, 6), completion: Int32Array.of(4, 11, 5, 2) },
      { prompt: Int32Array.of(1, 10, 7, 10, 6), completion: Int32Array.of(11, 2) },
    ]);
  });

  it.skipIf(digits === undefined)("splits a chat before its last turn", async () => {
    const own = await openCodec(digits!);
    const messages = [
      { role: "user", content: "1,2:9,1" },
      { role: "assistant", content: "3" },
    ];
    const [row] = await readSftRows(lines({ messages }), own);
    expect(own.decode(row!.prompt)).toBe("1,2:9,1");
    expect(Array.from(row!.completion)).toEqual([7, 1]);
  });

  it.each([
    [
      "the user's turn last",
      { messages: [turn("user", "1+1=")] },
      "messages: expected the last turn to be the assistant's, got the user's",
    ],
    ["no turn", { messages: [] }, "messages: expected the last turn to be the assistant's, got no turn"],
    [
      "a role of no template",
      { messages: [turn("bot", "1+1="), turn("assistant", "2")] },
      'messages[0].role: expected system, user, assistant or tool, got "bot"',
    ],
    [
      "an empty turn",
      { messages: [turn("user", "1+1="), turn("assistant", " ")] },
      "messages[1].content: expected text, got none",
    ],
    [
      "a completion of the user",
      { prompt: "1+1=", completion: [turn("user", "2")] },
      "completion: expected the last turn to be the assistant's, got the user's",
    ],
    [
      "a prompt with such a role",
      { prompt: [turn("bot", "1+1=")], completion: "2" },
      "prompt[0].role: expected system",
    ],
    [
      "an empty completion",
      { prompt: "1+1=", completion: "" },
      "expected a completion of at least one token",
    ],
  ])("names file and line of a chat with %s", async (_, row, message) => {
    const path = lines({ prompt: "1=", completion: "1" }, row);
    expect((await rejection(() => readSftRows(path, codec))).message).toContain(`${path}:2: ${message}`);
  });

  it("names file and line of a row without a completion", async () => {
    const path = lines({ prompt: "1=", completion: "1" }, { prompt: "1=" });
    expect((await rejection(() => readSftRows(path, codec))).message).toBe(
      `${path}:2: expected text at completion or response or solution or output, got nothing`,
    );
  });
});

describe("readStepwiseRows", () => {
  it("reads TRL's rows; labels after the first wrong one and -100 are none", async () => {
    const path = lines({ prompt: "p", completions: ["a", "b", "c", "d"], labels: [true, -100, 0, true] });
    expect(await readStepwiseRows(path)).toEqual([
      { prompt: "p", completions: ["a", "b", "c", "d"], labels: [true, null, false, null] },
    ]);
  });

  it("reads ProcessBench and rollouts with a first error", async () => {
    const path = lines(
      { problem: "p", steps: ["a", "b", "c"], label: 1 },
      { question: "q", steps: ["a"], first_error: -1 },
    );
    expect((await readStepwiseRows(path)).map(({ labels }) => labels)).toEqual([[true, false, null], [true]]);
  });

  it("reads PRM800K: the chosen path, and every other rating once", async () => {
    const path = lines({
      question: { problem: "p" },
      label: {
        steps: [
          {
            completions: [
              { text: "a", rating: 1 },
              { text: "a2", rating: -1 },
            ],
            chosen_completion: 0,
          },
          {
            completions: [{ text: "x", rating: -1 }],
            human_completion: { text: "b", rating: null },
            chosen_completion: null,
          },
          {
            completions: [
              { text: "c", rating: 0 },
              { text: "c2", rating: null },
            ],
            chosen_completion: 0,
          },
          { completions: [{ text: "d", rating: -1 }], chosen_completion: null },
        ],
      },
    });
    expect(
      (await readStepwiseRows(path)).map(({ completions, labels }) => [completions.join(), labels]),
    ).toEqual([
      ["a2", [false]],
      ["a,x", [null, false]],
      ["a,b,c,d", [null, null, null, false]],
      ["a,b,c", [true, true, true]],
    ]);
  });

  it.skipIf(bench === undefined)("reads ProcessBench as published", async () => {
    const rows = await readStepwiseRows(bench!);
    expect(rows).toHaveLength(400);
    expect(rows.filter(({ labels }) => labels.includes(false))).toHaveLength(207);
  });

  it.skipIf(record === undefined)("reads PRM800K as published", async () => {
    const rows = await readStepwiseRows(record!);
    expect(rows.at(-1)!.completions).toHaveLength(6);
    expect(rows.at(-1)!.labels.every((label) => label === true)).toBe(true);
    expect(rows.some(({ labels }) => labels.includes(false))).toBe(true);
  });

  it.each([
    [
      { prompt: "p", completions: ["a"], labels: [true, false] },
      "expected 1 labels, one per completion, got 2",
    ],
    [
      { prompt: "p", completions: ["a"], labels: ["+"] },
      'labels[0]: expected true, false, 1, 0, null or -100, got "+"',
    ],
    [{ prompt: "p", completions: [], labels: [] }, "completions: expected at least one step"],
    [
      { problem: "p", steps: ["a"], label: 1 },
      "expected the first wrong step at label or first_error, -1 to 0, got 1",
    ],
    [{ problem: "p" }, "expected { prompt, completions, labels }"],
    [{ label: { steps: [] } }, "question: "],
  ])("names file and line: %j", async (row, message) => {
    const path = lines({ prompt: "p", completions: ["a"], labels: [true] }, row);
    expect((await rejection(() => readStepwiseRows(path))).message).toContain(`${path}:2: ${message}`);
  });
});
