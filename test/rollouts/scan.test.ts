import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { MAX_LINE_BYTES } from "../../lib/rollouts/limits.ts";
import { RolloutReader } from "../../lib/rollouts/reader.ts";
import { scanRollouts } from "../../lib/rollouts/scan.ts";
import { rowOf, temporaryFolder } from "../support/rollouts.ts";

const folder = temporaryFolder();

function file(content: string | Uint8Array): string {
  const path = join(folder, "scan.jsonl");
  writeFileSync(path, content);
  return path;
}

const line = (more: object = {}) => JSON.stringify(rowOf(more));
const scan = (content: string | Uint8Array, onError: "fail" | "skip" = "fail") =>
  scanRollouts(file(content), { onError, name: "in.jsonl" });

// What the second pass reads, in the order of the file.
async function groupsOf(content: string | Uint8Array): Promise<string[]> {
  const index = await scan(content);
  const reader = new RolloutReader(index);
  const groups = index.offsets.map((_, i) => reader.read(i).group);
  reader[Symbol.dispose]();
  return groups;
}

describe("the index of a rollouts file", () => {
  it.each([
    ["LF", `${line({ group: "é" })}\n${line({ group: "b" })}\n`],
    ["CRLF", `${line({ group: "é" })}\r\n${line({ group: "b" })}\r\n`],
    ["no newline at the end", `${line({ group: "é" })}\n${line({ group: "b" })}`],
    ["a byte order mark", `\ufeff${line({ group: "é" })}\n${line({ group: "b" })}\n`],
    ["blank lines", `\n${line({ group: "é" })}\n  \n\r\n${line({ group: "b" })}\n\n`],
    ["a mark and CRLF", `\ufeff${line({ group: "é" })}\r\n${line({ group: "b" })}\r\n`],
  ])("finds the rows with %s", async (_, content) => {
    expect(await groupsOf(content)).toEqual(["é", "b"]);
  });

  it("finds rows that span and straddle the chunks in which it reads", async () => {
    const rows = Array.from({ length: 40 }, (_, i) =>
      line({ group: `g${i}`, question: "é".repeat(30_000 + 7919 * i) }),
    );
    expect(await groupsOf(rows.join("\n"))).toEqual(rows.map((_, i) => `g${i}`));
  });

  it("takes a line of 10 MB", async () => {
    expect(await groupsOf(`${line({ question: "x".repeat(10 << 20) })}\n${line({ group: "b" })}\n`)).toEqual([
      "g",
      "b",
    ]);
  });

  it("passes over a line that is longer than the limit", async () => {
    const long = Buffer.alloc(MAX_LINE_BYTES + 2, "x");
    const content = Buffer.concat([
      Buffer.from(`${line()}\n`),
      long,
      Buffer.from(`\n${line({ group: "b" })}\n`),
    ]);
    const { badLines, offsets } = await scan(content, "skip");
    expect(badLines).toEqual([{ line: 2, reason: `longer than ${MAX_LINE_BYTES} bytes` }]);
    expect(offsets).toHaveLength(2);
  });

  it("names file and line of a bad line, and can skip it", async () => {
    const content = `${line()}\n\n${line().slice(0, 20)}\n${line({ step_rewards: [1] })}\n${line()}\n`;
    await expect(scan(content)).rejects.toMatchObject({
      code: "ERR_INPUT",
      message: expect.stringMatching(/^in\.jsonl:3: not JSON/),
    });
    const index = await scan(content, "skip");
    expect(index.offsets).toHaveLength(2);
    expect(index.badLines.map((bad) => bad.line)).toEqual([3, 4]);
  });

  it("keeps the messages of the first bad lines and counts the others", async () => {
    const index = await scan(`${line()}\n${"oops\n".repeat(250)}`, "skip");
    expect(index.badLineCount).toBe(250);
    expect(index.badLines).toHaveLength(100);
  });

  it.each([
    ["ids that occur twice", `${line({ id: "a" })}\n${line({ id: "a" })}`, /:2: id: .*that of line 1/],
    [
      "long ids that occur twice",
      `${line({ id: "a".repeat(99) })}\n${line({ id: "a".repeat(99) })}`,
      /:2: id: /,
    ],
    [
      "bytes that are not UTF-8",
      Buffer.from([...Buffer.from(`${line()}\n`), 0x22, 0xff, 0x22]),
      /:2: not UTF-8/,
    ],
    [
      "rows with and without tokens",
      `${line()}\n${line({ token_ids: [1, 2], step_ends: [0, 1] })}`,
      /:2: expected steps without tokens, as line 1 has, got tokens without log-probs/,
    ],
    ["an empty file", "", /in\.jsonl: holds no rollout: it is empty/],
    ["a file of blank lines", "\n \n", /holds no rollout: it is empty/],
  ])("rejects %s", async (_, content, message) => {
    await expect(scan(content)).rejects.toThrow(message);
  });

  it("says so when skipping leaves nothing", async () => {
    await expect(scan("oops\n", "skip")).rejects.toThrow(/all 1 lines are bad, line 1: not JSON/);
  });

  it("rejects a file that is not there, and a folder", async () => {
    const missing = scanRollouts(join(folder, "missing.jsonl"), { onError: "skip" });
    await expect(missing).rejects.toMatchObject({
      code: "ERR_INPUT",
      message: expect.stringMatching(/cannot be read: ENOENT/),
    });
    await expect(scanRollouts(folder, { onError: "skip" })).rejects.toThrow(/cannot be read: EISDIR/);
  });

  it("puts the rows of a group together, groups by first appearance", async () => {
    const content = ["b", "a", "b", "c", "a"].map((group) => line({ group })).join("\n");
    const { order, groupOffsets } = await scan(content);
    expect([...order]).toEqual([0, 2, 1, 4, 3]);
    expect([...groupOffsets]).toEqual([0, 2, 4, 5]);
  });

  it("notices a file that changes between the passes", async () => {
    const index = await scan(`${line()}\n`);
    file(`${line({ group: "other" })} \n`);
    const reader = new RolloutReader(index);
    expect(() => reader.assertUnchanged()).toThrow(/changed while it was being read/);
    file("");
    expect(() => reader.read(0)).toThrow(/changed while it was being read/);
    reader[Symbol.dispose]();
  });
});
