import { ArgumentError } from "../errors.ts";
import { addon } from "../load.ts";
import type { Ragged } from "../ragged.ts";
import { assertRagged, typeName } from "../validate.ts";

/**
 * Repetition score of texts or token sequences: with LCP the longest-common-prefix array over the suffix array of a
 * sequence of n elements,
 *
 * `score = 2 sum(LCP) / (n (n + 1))`, 0 for n <= 1.
 *
 * It lies in [0, 1): 0 when no element occurs twice, (n - 1) / (n + 1) when all are equal. Since n (n + 1) / 2 -
 * sum(LCP) counts the distinct substrings, the score is the share of substrings that are copies of others. Any number
 * of threads gives the same bits: the sum is an exact integer.
 *
 * Source: the repetition measure of PURE (arXiv 2504.15275), used there to spot reward hacking. Time and memory are
 * linear in the length (about 22 bytes per element of the rows under way).
 *
 * @param texts - strings, compared by code point (a lone surrogate counts as a code point of its own), or token ids
 * >= 0, one row per response; strings and rows may be empty
 * @returns one score per text, without unit
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE` for anything but strings or int32 rows, `ERR_ARGUMENT_VALUE` for a
 * negative id, `ERR_SHAPE` without texts or with more than 2^31 - 1 elements in all
 */
export function repetitionScores(texts: readonly string[] | Ragged<Int32Array>): Float64Array<ArrayBuffer> {
  const { data, offsets } = isStrings(texts) ? codePoints(texts) : tokenIds(texts);
  const scores = new Float64Array(offsets.length - 1);
  addon().metrics.repetitionScores(data, offsets, scores);
  return scores;
}

function isStrings(texts: readonly string[] | Ragged<Int32Array>): texts is readonly string[] {
  return Array.isArray(texts);
}

function tokenIds(ids: Ragged<Int32Array>): Ragged<Int32Array> {
  assertRagged(ids, "texts", ["Int32Array"]);
  const negative = ids.data.findIndex((id) => id < 0);
  if (negative >= 0) {
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      `texts.data[${negative}]: expected a token id (integer >= 0), got ${ids.data[negative]}`,
    );
  }
  return ids;
}

function codePoints(texts: readonly string[]): Ragged<Int32Array> {
  if (texts.length === 0)
    throw new ArgumentError("ERR_SHAPE", "texts: expected at least one text, got 0 texts");
  let units = 0;
  for (const [i, text] of texts.entries()) {
    if (typeof text !== "string") {
      throw new ArgumentError("ERR_ARGUMENT_TYPE", `texts[${i}]: expected a string, got ${typeName(text)}`);
    }
    units += text.length;
  }
  if (units > 0x7fffffff) {
    throw new ArgumentError(
      "ERR_SHAPE",
      `texts: expected at most 2^31 - 1 UTF-16 units in all, got ${units}`,
    );
  }
  const data = new Int32Array(units);
  const offsets = new Int32Array(texts.length + 1);
  let count = 0;
  for (const [i, text] of texts.entries()) {
    for (let k = 0; k < text.length; k++) {
      const point = text.codePointAt(k)!;
      if (point > 0xffff) k++;
      data[count++] = point;
    }
    offsets[i + 1] = count;
  }
  return { data: data.subarray(0, count), offsets };
}
