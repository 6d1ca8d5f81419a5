import { type BoundConvention, openingMessages } from "../bind.ts";
import type { Convention } from "../convention.ts";
import type { Solution } from "../items.ts";
import type { BuiltInput, InputRow } from "./input.ts";
import { fill } from "./template.ts";

type Prefixes = Extract<Convention["input"], { form: "prefixes" }>;

/** @internal One input per prefix of the steps, read at its last token: packed into one row, or a row each. */
export function buildPrefixes(
  bound: BoundConvention,
  input: Prefixes,
  solution: Solution,
  packedLength: number,
): BuiltInput {
  const sequences = solution.steps.map((_, k) => prefix(bound, input, solution, k + 1));
  const toRows = (chosen: readonly number[][]): InputRow[] =>
    chosen.every((ids) => ids.length <= packedLength)
      ? [pack(chosen)]
      : chosen.map((ids) => ({ ids, reads: [ids.length - 1] }));
  return {
    rows: toRows(sequences),
    keep: (steps) => toRows(steps.map((k) => sequences[k]!)),
    readsPerStep: sequences.map(() => 1),
    lengths: sequences.map((ids) => ids.length),
  };
}

function prefix(bound: BoundConvention, input: Prefixes, solution: Solution, count: number): number[] {
  const { tokenizer, chat } = bound;
  const steps = solution.steps.slice(0, count).join(input.join);
  const reference = solution.reference ?? input.noReference ?? "";
  const user = fill(input.user, { question: solution.question, steps, reference });
  const ids = tokenizer.encodeChat(openingMessages(input.system, user), { addGenerationPrompt: true });
  for (const id of chat!.lead) ids.push(id);
  if (input.assistant !== undefined) {
    for (const id of tokenizer.encode(fill(input.assistant, { steps }))) ids.push(id);
  }
  if (input.eos) ids.push(tokenizer.eosId!);
  return ids;
}

/**
 * @internal Packs prefixes into one row: the longest is the trunk, every other one a branch that leaves the trunk
 * where the two differ. Whatever the tokenizer does at the seams, each branch sees exactly the ids of its own prefix.
 */
export function pack(sequences: readonly (readonly number[])[]): InputRow {
  const longest = sequences.reduce((best, s, k) => (s.length >= sequences[best]!.length ? k : best), 0);
  const trunk = sequences[longest]!;
  const ids = [...trunk];
  const positions = trunk.map((_, i) => i);
  const branch = trunk.map(() => 0);
  const trunkVisible = trunk.map(() => 0);
  const reads: number[] = [];
  let branches = 0;
  sequences.forEach((sequence, k) => {
    if (k === longest) {
      reads.push(trunk.length - 1);
      return;
    }
    let common = 0;
    while (common < sequence.length && sequence[common] === trunk[common]) common++;
    if (common === sequence.length) {
      reads.push(common - 1);
      return;
    }
    branches++;
    for (let i = common; i < sequence.length; i++) {
      ids.push(sequence[i]!);
      positions.push(i);
      branch.push(branches);
      trunkVisible.push(common);
    }
    reads.push(ids.length - 1);
  });
  return branches === 0 ? { ids, reads } : { ids, reads, tree: { positions, branch, trunkVisible } };
}
