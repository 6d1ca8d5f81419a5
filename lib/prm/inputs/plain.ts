import { PrmError } from "../../errors.ts";
import type { BoundConvention } from "../bind.ts";
import type { Convention } from "../convention.ts";
import type { Solution } from "../items.ts";
import { assertReads, type BuiltInput, causalRow } from "./input.ts";
import { fill, fillStep } from "./template.ts";

type Plain = Extract<Convention["input"], { form: "plain" }>;

/** @internal Text without a chat template: parts joined as ids, or one text read at its marker tokens. */
export function buildPlain(bound: BoundConvention, input: Plain, solution: Solution): BuiltInput {
  const { tokenizer, marker, convention } = bound;
  const prompt = fill(input.prompt, { question: solution.question });
  const steps = solution.steps.map((step, k) => fillStep(input.step, step, k));
  const ids: number[] = input.bos && tokenizer.bosId !== undefined ? [tokenizer.bosId] : [];
  if (input.tokenise === "whole") {
    const body = tokenizer.encode(prompt + steps.join(input.join));
    const first = ids.length;
    for (const id of body) ids.push(id);
    const reads: number[] = [];
    for (let i = first; i < ids.length; i++) if (ids[i] === marker) reads.push(i);
    assertReads(convention.name, reads.length, steps.length);
    return causalRow(ids, reads);
  }
  for (const id of tokenizer.encode(prompt)) ids.push(id);
  const reads = steps.map((step, k) => {
    for (const id of tokenizer.encode(step)) ids.push(id);
    for (const id of bound.separator ?? []) ids.push(id);
    if (marker !== undefined && ids.at(-1) !== marker) {
      throw new PrmError(
        "ERR_STEP_READS",
        `convention ${convention.name}: expected step ${k} to end in its marker (${marker}), it ends in ${ids.at(-1)}: the marker merged with the step's last characters`,
      );
    }
    return ids.length - 1;
  });
  return causalRow(ids, reads);
}
