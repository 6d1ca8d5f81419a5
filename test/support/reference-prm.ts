// The PRM of a folder whose expected.json says what a reference fed and read.
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { MinformError, PrmError } from "../../lib/errors.ts";
import {
  type Checkpoint,
  defaultHead,
  detectHeads,
  loadTokenizer,
  openCheckpoint,
  type Tokenizer,
} from "../../lib/model/index.ts";
import {
  type Convention,
  createPrm,
  detectConvention,
  families,
  loadPrm,
  type Prm,
} from "../../lib/prm/index.ts";
import { type ExpectedRow, itemOf, mismatch } from "./expected.ts";
import { fakeRunner } from "./runner.ts";

/** A loaded PRM, and the same convention with a row per prefix, for comparing ids. */
export interface ReferencePrm {
  readonly prm: Prm;
  readonly separate: Prm;
}

/**
 * Loads a folder with the convention that its rows were made with:
 *
 * 1. the one that is detected, as for a user who names none, if its ids are those of the rows;
 * 2. else the built-in one that fits the head and gives the ids of every row (families that share a head and a
 *    tokenizer do not tell themselves apart by their files);
 * 3. where rows state no ids, or several give them: the one that the folder is named after.
 *
 * A folder for which none is left is an error that says what each one missed.
 */
export async function loadReference(folder: string, rows: readonly ExpectedRow[]): Promise<ReferencePrm> {
  const checkpoint = await openCheckpoint(folder);
  const tokenizer = await loadTokenizer(checkpoint);
  const convention = choose(folder, checkpoint, tokenizer, rows);
  // An implicit PRM keeps its second model in a folder of its own.
  const second = join(folder, "reference");
  const reference = convention.head === "lm" && existsSync(second) ? { reference: second } : {};
  const prm = await loadPrm(folder, { convention, ...reference });
  return { prm, separate: separately(folder, convention, tokenizer) };
}

function choose(
  folder: string,
  checkpoint: Checkpoint,
  tokenizer: Tokenizer,
  rows: readonly ExpectedRow[],
): Convention {
  const heads = detectHeads(checkpoint);
  const missed: string[] = [];
  const fits = (convention: Convention): boolean => {
    const problem = whatIsMissed(folder, convention, tokenizer, rows);
    if (problem !== undefined) missed.push(`${convention.name}: ${problem}`);
    return problem === undefined;
  };
  const found = detected(folder, heads, tokenizer);
  if (found !== undefined && fits(found)) return found;
  const own = headKinds(checkpoint, heads);
  const candidates = Object.values(families).filter(
    (convention) => own.includes(convention.head) && convention !== found && fits(convention),
  );
  const named = candidates.filter(({ name }) => basename(folder).includes(name.split("-")[0]!));
  const [first] = named.length === 1 ? named : candidates;
  if (first !== undefined && (named.length === 1 || candidates.every((other) => sameReading(first, other))))
    return first;
  const names = candidates.map(({ name }) => name).join(", ");
  throw new Error(
    first === undefined
      ? `${folder}: no built-in convention meets the rows:\n${missed.join("\n")}`
      : `${folder}: the rows do not tell ${names} apart`,
  );
}

function detected(
  folder: string,
  heads: ReturnType<typeof detectHeads>,
  tokenizer: Tokenizer,
): Convention | undefined {
  try {
    return detectConvention({ source: folder, heads, tokenizer }).convention;
  } catch (error) {
    if (error instanceof PrmError && error.code === "ERR_CONVENTION_UNKNOWN") return undefined;
    throw error;
  }
}

// A head of its own goes before an LM head that is left over.
function headKinds(checkpoint: Checkpoint, heads: ReturnType<typeof detectHeads>): Convention["head"][] {
  if (heads.length === 0) defaultHead(checkpoint); // says what is missing
  const own = heads.filter(({ kind }) => kind !== "lm").map(({ kind }) => kind);
  return own.length > 0 ? own : ["lm-rows", "lm"];
}

function whatIsMissed(
  folder: string,
  convention: Convention,
  tokenizer: Tokenizer,
  rows: readonly ExpectedRow[],
): string | undefined {
  try {
    const prm = separately(folder, convention, tokenizer);
    for (const [i, row] of rows.entries()) {
      const problem = mismatch(row, prm.prepare(itemOf(row, convention)), convention);
      if (problem !== undefined) return `row ${i}: ${problem}`;
    }
    return undefined;
  } catch (error) {
    if (error instanceof MinformError) return error.message;
    throw error;
  }
}

function separately(folder: string, convention: Convention, tokenizer: Tokenizer): Prm {
  const wide = convention.score.transform.startsWith("softmax");
  const runner = () => fakeRunner({ outputs: wide ? 2 : 1, maxLength: Infinity });
  const reference = convention.head === "lm" ? { reference: runner() } : {};
  const parts = { model: folder, convention, tokenizer, runner: runner(), ...reference };
  return createPrm(parts, { packed: false });
}

const sameReading = (a: Convention, b: Convention): boolean =>
  JSON.stringify([a.head, a.labels, a.read, a.score]) === JSON.stringify([b.head, b.labels, b.read, b.score]);
