import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder, writeCheckpoint } from "../support/checkpoint.ts";
import { expectClose } from "../support/compare.ts";
import { ints, openSession, runAll } from "../support/model.ts";
import { buildCase, referenceCases } from "../support/reference-cases.ts";

const expected = JSON.parse(readFileSync(new URL("./transformers.json", import.meta.url), "utf8")) as Record<
  string,
  number[]
>;

describe("raw outputs of transformers in float32", async () => {
  const folder = await temporaryFolder();
  for (const [name, found] of Object.entries(referenceCases)) {
    test(name, async () => {
      const { config, tensors, rows } = buildCase(found);
      const path = writeCheckpoint(join(folder, name), config, tensors, found.shards);
      const session = await openSession(path, found.head);
      const values = await runAll(session, {
        ids: ints(rows.map(({ ids }) => ids)),
        reads: ints(rows.map(({ reads }) => reads)),
      });
      expect(values.length).toBe(expected[name]!.length);
      expectClose(values, expected[name]!, 2e-5);
    });
  }
});
