import { PrmError } from "../../errors.ts";
import { loadPrm, type Prm } from "../../prm/index.ts";
import { ragged } from "../../ragged.ts";
import { openScorer, type ScorerRow, type StepScorer } from "../prm/scorer.ts";
import type { TextCodec } from "../text/codec.ts";

/** @internal A row with the length of its prompt, as the trainer hands it to scorers. */
export interface PromptedRow extends ScorerRow {
  /** Tokens of the prompt in `ids`. */
  readonly prompt: number;
}

/**
 * @internal The PRM of a checkpoint folder: run by the training engine where `minform train-prm` has written it, else by
 * `minform/prm`.
 */
export async function openStepScorer(
  folder: string,
  { engine, policy, codec }: { engine: "auto" | "train" | "prm"; policy: string; codec: TextCodec },
): Promise<StepScorer> {
  if (engine !== "prm") {
    try {
      return await openScorer(folder);
    } catch (error) {
      if (engine === "train") throw error;
    }
  }
  return prmScorer(await loadPrm(folder, { policyTokenizer: policy }), codec);
}

/** @internal Step rewards of any PRM, over ids of the policy. */
export function prmScorer(prm: Prm, codec: TextCodec): StepScorer {
  return {
    async score(rows, options = {}) {
      const prompted = rows as readonly PromptedRow[];
      const items = prompted.map(({ ids, prompt }) => ({
        promptIds: ids.subarray(0, prompt),
        responseIds: ids.subarray(prompt),
        question: codec.decode(ids.subarray(0, prompt)),
      }));
      const scores = await prm.score(items, options);
      const values = scores.map(({ values, stepEnds = [] }, row) => {
        const { ends, prompt } = prompted[row]!;
        const own = Array.from(ends, (end) => end - prompt);
        if (own.length !== stepEnds.length || own.some((end, k) => end !== stepEnds[k])) {
          throw new PrmError(
            "ERR_STEP_READS",
            `${prm.model}: expected the trainer's steps, ending at ${own.join(", ")}, got ends at ${stepEnds.join(", ")}`,
          );
        }
        return values;
      });
      return ragged(values, "float32");
    },
    close: () => prm.close(),
  };
}
