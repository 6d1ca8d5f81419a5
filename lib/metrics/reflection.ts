import { ArgumentError } from "../errors.ts";
import { typeName } from "../validate.ts";

// The list that PURE counts, on the text in lower case.
const PATTERNS = [
  /wait,/g,
  /recheck[,\s]/g,
  /retry[,\s]/g,
  /try again/g,
  /alternatively,/g,
  /however,/g,
  /rethink[,\s]/g,
  /let's check/g,
  /let's verify/g,
];

/**
 * How often each text turns back on itself: occurrences of "wait,", "recheck", "retry", "try again", "alternatively,",
 * "however,", "rethink", "let's check" and "let's verify", in any case ("recheck", "retry" and "rethink" before a comma or
 * blank).
 *
 * Source: the reflection-pattern score that PURE (arXiv 2504.15275) logs. Linear in the length.
 *
 * @param texts - responses; may be empty
 * @returns one count >= 0 per text
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE` for anything but strings
 */
export function reflectionScores(texts: readonly string[]): Float64Array<ArrayBuffer> {
  return Float64Array.from(strings(texts), (text) => {
    const lower = text.toLowerCase();
    return PATTERNS.reduce((sum, pattern) => sum + (lower.match(pattern)?.length ?? 0), 0);
  });
}

/**
 * Number of steps of each response: parts between separators, so 1 for a text without any.
 *
 * Source: PURE's `num_steps`, which splits at two line ends.
 *
 * @param texts - responses; may be empty
 * @param separator - default two line ends
 * @returns one count >= 1 per text
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE` for anything but strings, `ERR_ARGUMENT_VALUE` for an empty separator
 */
export function stepCounts(texts: readonly string[], separator = "\n\n"): Float64Array<ArrayBuffer> {
  if (separator === "")
    throw new ArgumentError("ERR_ARGUMENT_VALUE", "separator: expected a text, got an empty one");
  return Float64Array.from(strings(texts), (text) => text.split(separator).length);
}

function strings(texts: readonly string[]): readonly string[] {
  for (const [i, text] of texts.entries()) {
    if (typeof text !== "string")
      throw new ArgumentError("ERR_ARGUMENT_TYPE", `texts[${i}]: expected a string, got ${typeName(text)}`);
  }
  return texts;
}
