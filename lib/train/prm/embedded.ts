import { existsSync } from "node:fs";
import { join } from "node:path";
import { labelSolution, stepTexts } from "../arithmetic/data.ts";
import { promptOf } from "../arithmetic/problem.ts";
import { type Split, splitProblem } from "../arithmetic/split.ts";
import { joinRows } from "../batches.ts";
import { readStepwiseRows, type StepwiseRow } from "../data/stepwise.ts";
import type { TrainableModel } from "../engine/model.ts";
import { writeWhole } from "../../atomic-file.ts";
import { promptIds, type TextCodec } from "../text/codec.ts";

const LONGEST = 60;

/** @internal Solutions of the embedded task as a policy writes them at temperature 1, one per problem, labelled by rule. */
export async function drawSolutions(
  policy: TrainableModel,
  codec: TextCodec,
  { split, count, seed }: { split: Split; count: number; seed: number },
): Promise<StepwiseRow[]> {
  const problems = Array.from({ length: count }, (_, i) => splitProblem(split, seed, i));
  const prompts = joinRows(problems.map((problem) => promptIds(codec, promptOf(problem))));
  const { tokens, stopped } = await policy.generate(prompts, {
    maxTokens: LONGEST,
    stopIds: [codec.eosId!],
    seed,
  });
  return problems.map((problem, i) => {
    const text = codec.decode(tokens.data.subarray(tokens.offsets[i], tokens.offsets[i + 1]));
    return labelSolution(problem, stepTexts(text), stopped[i] === 1);
  });
}

/** @internal The rows of a file in a run's folder, which is written first where it is missing. */
export async function keptRows(
  folder: string,
  name: string,
  draw: () => Promise<StepwiseRow[]>,
): Promise<StepwiseRow[]> {
  const path = join(folder, name);
  if (!existsSync(path)) {
    const lines = (await draw()).map((row) => `${JSON.stringify(row)}\n`);
    writeWhole(path, lines.join(""));
  }
  return readStepwiseRows(path);
}
