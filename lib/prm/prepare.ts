import { ArgumentError, PrmError } from "../errors.ts";
import type { Tokenizer } from "../model/types.ts";
import { typeName } from "../validate.ts";
import type { BoundConvention } from "./bind.ts";
import { buildChat, buildConversation, buildInputIds, buildTurns } from "./inputs/chat.ts";
import type { BuiltInput, InputRow } from "./inputs/input.ts";
import { buildPlain } from "./inputs/plain.ts";
import { buildPolicy } from "./inputs/policy.ts";
import { buildPrefixes } from "./inputs/prefixes.ts";
import { buildResponse } from "./inputs/response.ts";
import { checkConversation, checkIds, type PrmItem, type Solution, toSolution } from "./items.ts";
import type { StepSpan } from "./steps.ts";

/** How items are prepared. */
export interface PrepareOptions {
  /** The model's context length. */
  readonly maxLength: number;
  /** `"error"` (default): an input past the context is an error; `"flag"`: the steps past it get NaN. */
  readonly overlong: "error" | "flag";
  /** Prefixes of a solution share one packed row where the longest has at most so many tokens, else a row each. */
  readonly packedLength: number;
  /** Separator that splits responses. */
  readonly split: string;
  /** Tokenizer of `responseIds`, when it is not the PRM's. */
  readonly policyTokenizer: Tokenizer;
}

/** One item, turned into token ids and reads. */
export interface PreparedItem {
  /** Number of steps; as many scores come back. */
  readonly steps: number;
  /** Steps that lie past the context, by index; empty unless `overlong: "flag"`. */
  readonly unscored: readonly number[];
  /** Rows for the model: ids, positions read, and the layout of packed prefixes. */
  readonly rows: readonly InputRow[];
  /** Reads that make up each scored step. */
  readonly readsPerStep: readonly number[];
  /** Where each step stands in its response; missing when the item came as separate steps. */
  readonly spans?: readonly StepSpan[];
  /** Response token on which each step's reward lands; only for items of token ids. */
  readonly stepEnds?: readonly number[];
}

/** @internal Which tokens' text ends with the separator, remembered per id. */
export function stepEnder(tokenizer: Tokenizer, separator: string): (id: number) => boolean {
  const known = new Map<number, boolean>();
  return (id) => {
    let found = known.get(id);
    if (found === undefined) {
      found = tokenizer.tokenText(id).endsWith(separator);
      known.set(id, found);
    }
    return found;
  };
}

/** @internal Turns an item into rows for the model; every fault of the item shows here. */
export function prepareItem(
  bound: BoundConvention,
  item: PrmItem,
  options: PrepareOptions,
  endsStep: (id: number) => boolean,
): PreparedItem {
  const { convention } = bound;
  if (item === null || typeof item !== "object")
    throw new ArgumentError("ERR_ARGUMENT_TYPE", `item: expected an object, got ${typeName(item)}`);
  if ("conversation" in item || "inputIds" in item) {
    if (convention.read !== "before") {
      throw new PrmError(
        "ERR_CONVENTION",
        `convention ${convention.name}: takes a question with steps; only conventions that read before a reply take a conversation`,
      );
    }
    const built =
      "inputIds" in item
        ? buildInputIds(bound, checkIds(item.inputIds, "inputIds"))
        : buildConversation(bound, checkConversation(item.conversation));
    return intoContext(convention.name, built, options, {});
  }
  if ("responseIds" in item && bound.replace !== undefined) {
    const { built, ends } = buildPolicy(
      checkIds(item.promptIds, "promptIds"),
      checkIds(item.responseIds, "responseIds"),
      bound.replace,
      endsStep,
    );
    return intoContext(convention.name, built, options, { stepEnds: ends });
  }
  const solution = toSolution(item, options.split, options.policyTokenizer);
  const { spans } = solution;
  const built = buildText(bound, convention.trim ? trimmed(solution) : solution, options.packedLength);
  const ends = spans?.every(({ lastToken }) => lastToken !== undefined)
    ? { stepEnds: spans.map(({ lastToken }) => lastToken!) }
    : {};
  return intoContext(convention.name, built, options, { ...(spans === undefined ? {} : { spans }), ...ends });
}

function trimmed(solution: Solution): Solution {
  return { ...solution, steps: solution.steps.map((step) => step.trim()) };
}

function buildText(bound: BoundConvention, solution: Solution, packedLength: number): BuiltInput {
  const { input } = bound.convention;
  switch (input.form) {
    case "plain":
      return buildPlain(bound, input, solution);
    case "chat":
      return buildChat(bound, input, solution);
    case "turns":
      return buildTurns(bound, input, solution);
    case "prefixes":
      return buildPrefixes(bound, input, solution, packedLength);
    case "response":
      return buildResponse(bound, input, solution);
  }
}

// Attention is causal, so the steps inside the context keep their scores when what follows is cut off.
function intoContext(
  name: string,
  built: BuiltInput,
  { maxLength, overlong }: PrepareOptions,
  rest: Pick<PreparedItem, "spans" | "stepEnds">,
): PreparedItem {
  const { lengths, readsPerStep } = built;
  const steps = lengths.length;
  const unscored = lengths.flatMap((length, k) => (length > maxLength ? [k] : []));
  if (unscored.length > 0 && overlong === "error") {
    throw new PrmError(
      "ERR_TOO_LONG",
      `convention ${name}: the input has ${Math.max(...lengths)} tokens, the model's context ${maxLength}; ${unscored.length} of ${steps} steps lie past it (overlong: "flag" scores the others)`,
    );
  }
  const scored = lengths.flatMap((length, k) => (length > maxLength ? [] : [k]));
  return {
    steps,
    unscored,
    rows: scored.length === 0 ? [] : (built.keep?.(scored) ?? [cut(built, scored.length, maxLength)]),
    readsPerStep: scored.map((k) => readsPerStep[k]!),
    ...rest,
  };
}

// In a causal row the steps that fit are the first ones.
function cut({ rows, readsPerStep }: BuiltInput, steps: number, maxLength: number): InputRow {
  const row = rows[0]!;
  if (row.ids.length <= maxLength) return row;
  const reads = readsPerStep.slice(0, steps).reduce((sum, count) => sum + count, 0);
  return {
    ids: row.ids.slice(0, maxLength),
    reads: row.reads.slice(0, reads),
    ...(row.targets === undefined ? {} : { targets: row.targets.slice(0, reads) }),
  };
}
