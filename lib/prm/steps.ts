import { ArgumentError } from "../errors.ts";
import type { Tokenizer } from "../model/types.ts";

/** Where one step stands in a response. */
export interface StepSpan {
  /** First character of the step's text in the response. */
  readonly start: number;
  /** Character after its last one; the separator is not part of the step. */
  readonly end: number;
  /** First response token of the step (with a map from tokens). */
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
 * @param ids - response ids, without padding; a closing EOS belongs to the last step
 * @param tokenizer - the policy's
 * @param options - `separator`, default `"\n\n"`; `eosId`, default the tokenizer's
 * @throws {@link ArgumentError} `ERR_SHAPE` when one token holds two whole steps
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
  const tokenAt = (character: number): number => {
    let low = 0;
    let high = starts.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle]! <= character) low = middle;
      else high = middle;
    }
    return low;
  };
  let previous = -1;
  const steps = spans.map(({ start, end }, k) => {
    const next = spans[k + 1];
    // Up to the text of the next step, whatever stands between: separators, blank pieces.
    const lastToken = next === undefined ? ids.length - 1 : tokenAt(next.start - 1);
    if (lastToken <= previous) {
      throw new ArgumentError("ERR_SHAPE", `ids: token ${lastToken} ends two steps (${k - 1} and ${k})`);
    }
    const firstToken = previous + 1;
    previous = lastToken;
    return { start, end, firstToken, lastToken };
  });
  return { text, steps };
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
