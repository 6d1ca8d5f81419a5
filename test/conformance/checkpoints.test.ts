// Checkpoints in Hugging Face layout with an expected.json beside them: token ids equal, scores within 2e-5 of the
// float32 reference. Any folder of that shape can be named in MINFORM_CHECKPOINTS (colon-separated).
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sharedPath } from "../support/checkpoints.ts";
import { expectedRows, itemOf, mismatch, scoreError } from "../support/expected.ts";
import { loadReference, type ReferencePrm } from "../support/reference-prm.ts";

const tolerance = 2e-5;

function folders(): string[] {
  const named = process.env.MINFORM_CHECKPOINTS;
  if (named) return named.split(":").filter((path) => path !== "");
  const root = sharedPath("checkpoints");
  if (root === undefined) return [];
  return readdirSync(root)
    .map((name) => join(root, name))
    .filter((path) => statSync(path).isDirectory() && existsSync(join(path, "expected.json")));
}

const found = folders();

describe("reference checkpoints", () => {
  if (found.length === 0) {
    console.info(
      "conformance: skipped, no checkpoint folder: MINFORM_CHECKPOINTS is not set and there is no shared data",
    );
    it.skip("no checkpoint folder", () => {});
  }
  for (const folder of found) {
    describe(basename(folder), () => {
      const rows = expectedRows(folder);
      let loaded: ReferencePrm;
      beforeAll(async () => {
        loaded = await loadReference(folder, rows);
      }, 120_000);
      afterAll(async () => {
        await loaded?.prm.close();
        // The suite outlives its folder; its tokenizer need not, or many folders would exhaust the heap.
        loaded = undefined as never;
      });

      it("token ids and read positions", () => {
        expect(rows.length).toBeGreaterThan(0);
        const { separate } = loaded;
        for (const [i, row] of rows.entries()) {
          const prepared = separate.prepare(itemOf(row, separate.convention));
          expect(mismatch(row, prepared, separate.convention), `row ${i}`).toBeUndefined();
        }
      });

      it(`scores within ${tolerance} of the reference`, async () => {
        const { prm } = loaded;
        const scores = await prm.score(rows.map((row) => itemOf(row, prm.convention)));
        const errors = rows.map((row, i) => scoreError(row, scores[i]!.values));
        const wrong = errors.findIndex((error) => !(error <= tolerance));
        const expected = [rows[wrong]?.step_rewards ?? rows[wrong]?.reward].flat();
        if (wrong >= 0)
          expect.fail(
            `row ${wrong}: expected ${expected}, got ${scores[wrong]!.values} (off by ${errors[wrong]})`,
          );
        console.info(`${basename(folder)}: ${prm.convention.name}, largest error ${Math.max(...errors)}`);
      });

      it("the same alone, in another order and in small batches (1e-5), and the same bits when repeated", async () => {
        const { prm } = loaded;
        const items = rows.map((row) => itemOf(row, prm.convention));
        const together = await prm.score(items);
        const again = await prm.score(items);
        const backwards = (await prm.score([...items].reverse())).reverse();
        for (const [i, item] of items.entries()) {
          const [alone] = await prm.score([item]);
          together[i]!.values.forEach((value, k) => {
            expect(again[i]!.values[k]).toBe(value);
            expect(Math.abs(backwards[i]!.values[k]! - value)).toBeLessThanOrEqual(1e-5);
            expect(Math.abs(alone!.values[k]! - value)).toBeLessThanOrEqual(1e-5);
          });
        }
      });
    });
  }
});
