import { ArgumentError } from "../errors.ts";
import type { Tokenizer } from "../model/types.ts";
import { rowAt } from "../row-at.ts";

/** Where one step stands in a response. */
export interface StepSpan {
  /** First character of the step's text in the response. */
  readonly start: number;
  /** Character after its last one; the separator is not part of the step. */
  readonly end: number;
  /**
   * First response token of the step (with a map from tokens): the one behind the previous step's last, or that token
   * itself where the step's text begins inside it.
   */
  readonly firstToken?: number;
  /** Response token on which the step's reward lands: the one that ends its separator, or the response's last. */
  readonly lastToken?: number;
}

/**
 * Splits a response at a separator. Pieces without a visible character are no steps; the others keep their exact text,
 * so `response.slice(start, end)` is the step.
 *
 * @param separator - default `"\n\n"`
 */
export function splitSteps(response: string, separator = "\n\n"): StepSpan[] {
  if (typeof separator !== "string" || separator === "") {
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      `separator: expected text, got ${JSON.stringify(separator)}`,
    );
  }
  const spans: StepSpan[] = [];
  let start = 0;
  for (const piece of response.split(separator)) {
    if (piece.trim() !== "") spans.push({ start, end: start + piece.length });
    start += piece.length + separator.length;
  }
  return spans;
}

/**
 * Characters of each token of a decoded text: token `i` is `text.slice(starts[i], starts[i + 1])`. A character spread
 * over several tokens belongs to the last of them.
 *
 * @returns the text and `ids.length + 1` offsets
 */
export function tokenOffsets(
  ids: readonly number[],
  tokenizer: Tokenizer,
): {
  /** The decoded text. */
  text: string;
  /** First character of each token, and the length of the text. */
  starts: Int32Array<ArrayBuffer>;
} {
  const starts = new Int32Array(ids.length + 1);
  let text = "";
  // Decoding a window that begins one settled token earlier keeps blanks that a decoder strips at the beginning.
  let anchor = 0;
  let settled = 0;
  for (let i = 0; i < ids.length; i++) {
    starts[i] = text.length;
    const known = anchor === settled ? "" : tokenizer.decode(ids.slice(anchor, settled));
    const longer = tokenizer.decode(ids.slice(anchor, i + 1));
    const last = i === ids.length - 1;
    if (!longer.endsWith("\uFFFD") || last || i - settled >= 8) {
      text += longer.slice(known.length);
      anchor = settled;
      settled = i + 1;
    }
  }
  starts[ids.length] = text.length;
  return { text, starts };
}

/** Steps of a tokenised response, from {@link mapSteps}. */
export interface StepMap {
  /** The decoded response, a closing EOS left out. */
  readonly text: string;
  /** One per step, with characters and tokens. */
  readonly steps: readonly Required<StepSpan>[];
}

/**
 * Steps of a response that is given as the policy's own ids: one tokenisation, so each step has its exact text (with
 * punctuation that is fused with the separator) and the exact token that its reward belongs to.
 *
 * The tokens `firstToken .. lastToken` of a step decode to a text that holds the step. Rewards land on different, rising
 * tokens. A token that ends a separator and begins the next step ("\n\n\n" between two steps) is the last one of the
 * former and the first one of the latter; the former ends before it only where the latter has no other token to end on.
 *
 * @param ids - response ids, without padding; a closing EOS belongs to the last step
 * @param tokenizer - the policy's
 * @param options - `separator`, default `"\n\n"`; `eosId`, default the tokenizer's
 * @throws {@link ArgumentError} `ERR_SHAPE` when one token holds the ends of two steps
 */
export function mapSteps(
  ids: readonly number[],
  tokenizer: Tokenizer,
  options: { separator?: string; eosId?: number } = {},
): StepMap {
  const { separator = "\n\n", eosId = tokenizer.eosId } = options;
  const closed = ids.length > 0 && ids.at(-1) === eosId;
  const { text, starts } = tokenOffsets(closed ? ids.slice(0, -1) : ids, tokenizer);
  const spans = splitSteps(text, separator);
  const ends = placeEnds(spans, starts, ids.length - 1);
  const steps = spans.map((span, k) => {
    const behind = k === 0 ? 0 : ends[k - 1]! + 1;
    return { ...span, firstToken: Math.min(behind, firstTokenOf(starts, span.start)), lastToken: ends[k]! };
  });
  return { text, steps };
}

// From the last step to the first: each ends where its separator does (with the blank pieces behind it), or before the
// end of the step that follows.
function placeEnds(spans: readonly StepSpan[], starts: Int32Array, last: number): number[] {
  const ends: number[] = new Array(spans.length);
  for (let k = spans.length - 1; k >= 0; k--) {
    const next = spans[k + 1];
    const separated = next === undefined ? last : rowAt(starts, next.start - 1);
    ends[k] = next === undefined ? last : Math.min(separated, ends[k + 1]! - 1);
    if (ends[k]! < rowAt(starts, spans[k]!.end - 1)) {
      throw new ArgumentError("ERR_SHAPE", `ids: token ${ends[k]! + 1} ends two steps (${k} and ${k + 1})`);
    }
  }
  return ends;
}

// The token that begins a character: tokens that spread it begin at the same place, and rowAt gives the last of them.
function firstTokenOf(starts: Int32Array, character: number): number {
  let token = rowAt(starts, character);
  while (token > 0 && starts[token - 1] === starts[token]) token--;
  return token;
}

/**
 * PURE's verl worker: a step ends at every token whose text ends with the separator, and at the last token of the
 * response, EOS or not. Those tokens' indices, rising, none twice.
 *
 * @param endsStep - whether a token's text ends with the separator
 */
export function policyStepEnds(ids: readonly number[], endsStep: (id: number) => boolean): number[] {
  const ends: number[] = [];
  ids.forEach((id, i) => {
    if (i === ids.length - 1 || endsStep(id)) ends.push(i);
  });
  return ends;
}
