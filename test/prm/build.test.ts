import { describe, expect, it } from "vitest";
import { createPrm, type PrmItem } from "../../lib/prm/index.ts";
import { type ExpectedRow, expectedRows, sharedPath } from "../support/checkpoints.ts";
import { fakeRunner } from "../support/runner.ts";
import { thinTokenizer } from "../support/tokenizer.ts";

const cases: [folder: string, convention: string, toItem: (row: ExpectedRow) => PrmItem][] = [
  ["dreamprm-tiny", "dreamprm", (row) => ({ conversation: row.conversation! })],
  ["pure-prm-tiny", "pure", (row) => ({ promptIds: row.prompt_ids!, responseIds: row.response_ids! })],
  ["qwen-prm-tiny", "qwen-prm", (row) => ({ question: row.question!, steps: row.steps! })],
  ["shepherd-tiny", "math-shepherd", (row) => ({ question: row.question!, steps: row.steps! })],
];

describe("inputs of the reference checkpoints", () => {
  for (const [folder, convention, toItem] of cases) {
    const path = sharedPath("checkpoints", folder);
    it.skipIf(path === undefined)(`${folder}: token ids and read positions`, () => {
      const tokenizer = thinTokenizer(path!);
      const prm = createPrm({ model: folder, convention, tokenizer, runner: fakeRunner() });
      for (const row of expectedRows(path!)) {
        const { rows, steps, stepEnds } = prm.prepare(toItem(row));
        expect(rows).toHaveLength(1);
        expect(rows[0]!.ids).toEqual(row.prm_input_ids ?? row.input_ids);
        if (row.read_positions) expect(rows[0]!.reads).toEqual(row.read_positions);
        else expect(rows[0]!.reads).toEqual([row.input_ids!.length - 4]);
        if (row.step_end_token_index) expect(stepEnds).toEqual(row.step_end_token_index);
        expect(steps).toBe(row.step_rewards?.length ?? 1);
      }
    });
  }
});
