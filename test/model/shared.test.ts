import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openCheckpoint } from "../../lib/model/checkpoint.ts";
import { defaultHead } from "../../lib/model/heads.ts";
import { loadTokenizer } from "../../lib/model/tokenizer.ts";
import type { Head } from "../../lib/model/types.ts";
import { expectClose, expectSameBits } from "../support/compare.ts";
import { ints, openSession, runAll } from "../support/model.ts";

// Checkpoints of the workspace with scores of the reference in float32; absent from a plain clone.
const ROOT = join(import.meta.dirname, "..", "..", "..", "shared", "checkpoints");
const folders = existsSync(ROOT)
  ? readdirSync(ROOT).filter((name) => existsSync(join(ROOT, name, "expected.json")))
  : [];

interface Row {
  input_ids?: number[];
  prm_input_ids?: number[];
  read_positions?: number[];
  step_rewards?: number[];
  reward?: number;
  text?: string;
  prompt?: string;
  prompt_ids?: number[];
  conversation?: { role: string; content: string }[];
}

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

// How the known folders turn logits into a score.
const READS: Record<string, { head: Head; score: (a: number, b: number) => number }> = {
  "dreamprm-tiny": { head: { kind: "lm-rows", tokenIds: [10, 12] }, score: (a, b) => sigmoid(a - b) },
  "shepherd-tiny": { head: { kind: "lm-rows", tokenIds: [648, 387] }, score: (a, b) => sigmoid(a - b) },
  "qwen-prm-tiny": { head: { kind: "mlp", classes: 2 }, score: (a, b) => sigmoid(b - a) },
  "pure-prm-tiny": {
    head: { kind: "token-classification", classes: 2 },
    score: (a, b) => Math.tanh((b - a) / 2),
  },
};

test.skipIf(folders.length > 0)("no shared checkpoints here", () => {});

for (const name of folders.filter((folder) => folder in READS)) {
  describe(name, () => {
    const path = join(ROOT, name);
    const rows = JSON.parse(readFileSync(join(path, "expected.json"), "utf8")) as Row[];
    const ids = rows.map((row) => (row.prm_input_ids ?? row.input_ids)!);
    const reads = rows.map((row, i) => row.read_positions ?? [ids[i]!.length - 4]);
    const expected = rows.flatMap((row) => row.step_rewards ?? [row.reward!]);
    const { head, score } = READS[name]!;

    test("scores are those of the reference", async () => {
      for (const weights of ["in-place", "float32"] as const) {
        const session = await openSession(path, head, { threads: 2, weights });
        const logits = await runAll(session, { ids: ints(ids), reads: ints(reads) });
        const scores = expected.map((_, i) => score(logits[2 * i]!, logits[2 * i + 1]!));
        expect(scores.length).toBe(expected.length);
        for (const [i, value] of scores.entries()) expect(Math.abs(value - expected[i]!)).toBeLessThan(2e-5);
      }
    });

    test("alone and together, the same bits", async () => {
      const session = await openSession(path, head, { threads: 2 });
      const together = await runAll(session, { ids: ints(ids), reads: ints(reads) });
      let from = 0;
      for (const [i, row] of ids.entries()) {
        const alone = await runAll(session, { ids: ints([row]), reads: ints([reads[i]!]) });
        expectClose(alone, together.subarray(from, from + alone.length), 1e-5);
        from += alone.length;
      }
      expectSameBits(await runAll(session, { ids: ints(ids), reads: ints(reads) }), together);
    });

    test("ids are those of the reference", async () => {
      const checkpoint = await openCheckpoint(path);
      expect(defaultHead(checkpoint).kind).toBe(head.kind === "lm-rows" ? "lm" : head.kind);
      const tokenizer = await loadTokenizer(checkpoint);
      for (const row of rows) {
        if (row.conversation) expect(tokenizer.encodeChat(row.conversation)).toEqual(row.input_ids);
        if (row.prompt) expect(tokenizer.encode(row.prompt, { special: "parse" })).toEqual(row.prompt_ids);
        const addBos = name === "shepherd-tiny";
        if (row.text) expect(tokenizer.encode(row.text, { special: "parse", addBos })).toEqual(row.input_ids);
      }
    });
  });
}
