// Checkpoints in Hugging Face layout with an expected.json beside them: token ids equal, scores within 2e-5 of the
// float32 reference. Any folder of that shape can be named in MINFORM_CHECKPOINTS (colon-separated).
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MinformError, PrmError } from "../../lib/errors.ts";
import { detectHeads, loadTokenizer, openCheckpoint } from "../../lib/model/index.ts";
import { rowToItem } from "../../lib/prm/files/rows.ts";
import {
  type Convention,
  createPrm,
  families,
  loadPrm,
  type Prm,
  type PrmItem,
} from "../../lib/prm/index.ts";
import { type ExpectedRow, expectedRows, sharedPath } from "../support/checkpoints.ts";
import { fakeRunner } from "../support/runner.ts";

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

const idsOf = (row: ExpectedRow): number[] => row.prm_input_ids ?? row.input_ids!;
const rewardsOf = (row: ExpectedRow): number[] => row.step_rewards ?? [row.reward!];
const itemOf = (row: ExpectedRow, convention: Convention): PrmItem =>
  rowToItem(row as Record<string, unknown>, convention);

/**
 * A folder as a user would load it: without a convention where the checkpoint tells. Where it does not, one has to be
 * named; here it is the built-in one that feeds the model what the reference fed it.
 */
async function load(folder: string, row: ExpectedRow): Promise<Prm> {
  try {
    return await loadPrm(folder);
  } catch (error) {
    if (!(error instanceof PrmError && error.code === "ERR_CONVENTION_UNKNOWN")) throw error;
  }
  const checkpoint = await openCheckpoint(folder);
  const tokenizer = await loadTokenizer(checkpoint);
  const kinds = detectHeads(checkpoint).map((head) => head.kind);
  for (const convention of Object.values(families)) {
    const kind = convention.head === "lm-rows" ? "lm" : convention.head;
    if (convention.head === "lm" || !kinds.includes(kind)) continue;
    try {
      const runner = fakeRunner({ outputs: kind === "scalar" || kind === "value" ? 1 : 2 });
      const prm = createPrm({ model: folder, convention, tokenizer, runner });
      const { rows } = prm.prepare(itemOf(row, convention));
      if (rows.length === 1 && String(rows[0]!.ids) === String(idsOf(row)))
        return await loadPrm(folder, { convention });
    } catch (error) {
      if (!(error instanceof MinformError)) throw error; // else it does not fit
    }
  }
  throw new Error(`${folder}: no built-in convention gives the ids of the reference`);
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
      let prm: Prm;
      beforeAll(async () => {
        prm = await load(folder, rows[0]!);
      }, 120_000);
      afterAll(() => prm?.close());

      it("token ids and read positions", () => {
        expect(rows.length).toBeGreaterThan(0);
        for (const row of rows) {
          const prepared = prm.prepare(itemOf(row, prm.convention));
          expect(prepared.rows).toHaveLength(1);
          expect(prepared.rows[0]!.ids).toEqual(idsOf(row));
          if (row.read_positions) expect(prepared.rows[0]!.reads).toEqual(row.read_positions);
          if (row.step_end_token_index) expect(prepared.stepEnds).toEqual(row.step_end_token_index);
          if (row.num_tokens !== undefined) expect(prepared.rows[0]!.ids).toHaveLength(row.num_tokens);
        }
      });

      it(`scores within ${tolerance} of the reference`, async () => {
        const scores = await prm.score(rows.map((row) => itemOf(row, prm.convention)));
        rows.forEach((row, i) => {
          const expected = rewardsOf(row);
          expect(scores[i]!.values).toHaveLength(expected.length);
          expected.forEach((reward, k) => {
            const error = Math.abs(scores[i]!.values[k]! - reward);
            if (!(error <= tolerance))
              expect.fail(`row ${i}, step ${k}: got ${scores[i]!.values[k]}, expected ${reward}`);
          });
        });
      });

      it("the same alone, in another order and in small batches (1e-5), and the same bits when repeated", async () => {
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
