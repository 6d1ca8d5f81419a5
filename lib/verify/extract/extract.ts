import { findBoxes } from "./boxed.ts";
import { answerPhrase, lastNumber } from "./phrases.ts";

/** Options of {@link extractAnswer}. */
export interface ExtractOptions {
  /**
   * Where else to look when there is no box. `none` (default): nowhere. `phrases`: after "final answer is", "answer is",
   * "Answer:", `####`, or a last line in bold. `lastNumber`: there, else the last number of the text. A reward should not
   * pay for mentioning a number, so the default asks for the box.
   */
  readonly fallback?: "none" | "phrases" | "lastNumber";
}

/**
 * The final answer of a response: the last complete `\boxed` or `\fbox` after the last `</think>`. Boxes next to one
 * another, joined by a comma, "and" or "or", make a list. A box that is not closed is no answer, nor is anything in a
 * `<think>` that was never ended.
 *
 * @param response - what a model wrote; any length, the time is linear in it
 * @returns the answer as it stands there; undefined when there is none
 */
export function extractAnswer(response: string, options: ExtractOptions = {}): string | undefined {
  if (typeof response !== "string") return undefined;
  const text = afterThinking(response);
  if (text === undefined) return undefined;
  const { fallback = "none" } = options;
  const boxed = boxedAnswer(text);
  if (boxed !== undefined) return boxed.trim() === "" ? undefined : boxed.trim();
  if (fallback === "none") return undefined;
  const found = answerPhrase(text) ?? (fallback === "lastNumber" ? lastNumber(text) : undefined);
  return found === "" ? undefined : found;
}

function afterThinking(response: string): string | undefined {
  const end = response.lastIndexOf("</think>");
  const start = response.lastIndexOf("<think>");
  if (start > end) return undefined;
  return end < 0 ? response : response.slice(end + "</think>".length);
}

/** Characters between two boxes that belong together. */
const NEAR = 24;
const MOST = 16;

function boxedAnswer(text: string): string | undefined {
  const boxes = findBoxes(text);
  if (boxes.length === 0) return undefined;
  let from = boxes.length - 1;
  while (
    from > 0 &&
    boxes.length - from < MOST &&
    joins(text.slice(boxes[from - 1]!.end, boxes[from]!.start))
  )
    from--;
  return boxes
    .slice(from)
    .map(({ content }) => content)
    .join(", ");
}

// Only signs of mathematics mode and one conjunction.
function joins(between: string): boolean {
  if (between.length > NEAR) return false;
  const words = between.replace(/[$\s~]|\\[()[\],;]|\\text\s*\{|\}|\\q?quad/g, "");
  return [",", "and", "or", ",and", ",or", ";"].includes(words);
}
