import { ArgumentError } from "../errors.ts";
import { launch } from "../cuda/launch.ts";
import { addon } from "../load.ts";
import type { Mask, Owned, Ragged, Values } from "../ragged.ts";
import { assertRaggedValues, checkMask, outputLike } from "../placed-values.ts";
import {
  assertOffsets,
  assertOneOf,
  assertRagged,
  assertSameRows,
  assertTypedArray,
  describe,
} from "../validate.ts";

/** @internal Asserts step ends that rise within each row; with `model`, one per step of it. */
export function assertStepEnds(
  stepEnds: Ragged<Int32Array>,
  name: string,
  model: Int32Array,
  modelName: string,
  tokenOffsets?: Int32Array,
): void {
  assertRagged(stepEnds, name, ["Int32Array"]);
  assertSameRows(stepEnds.offsets, name, model, modelName);
  const { data, offsets } = stepEnds;
  for (let i = 0; i + 1 < offsets.length; i++) {
    const length = tokenOffsets === undefined ? Infinity : tokenOffsets[i + 1]! - tokenOffsets[i]!;
    let previous = -1;
    for (let k = offsets[i]!; k < offsets[i + 1]!; k++) {
      if (data[k]! <= previous || data[k]! >= length) {
        const wanted = `a token index in (${previous}, ${length})`;
        throw new ArgumentError(
          "ERR_SHAPE",
          `${name}: expected ${wanted} at row ${i}, step ${k - offsets[i]!}, got ${data[k]}`,
        );
      }
      previous = data[k]!;
    }
  }
}

/** Options of {@link placeSteps}. */
export interface PlaceStepsOptions<T extends Values> {
  /** `"end"` (default): the value stands at the step's last token, as rewards do; `"span"`: on every token of the step, as returns and advantages do. */
  place?: "end" | "span";
  /**
   * What stands at separator and EOS tokens: `"keep"` (default) the value, `"zero"` +0, as in PURE's first
   * implementation. Which tokens those are: `separatorTokens`, else every step's last token.
   */
  separators?: "keep" | "zero";
  /** One per token, 1 at separators and EOS: from {@link findStepEnds}. Only read with `separators: "zero"`. */
  separatorTokens?: Mask;
  /** One per token: 0 gets +0. */
  mask?: Mask;
  /** Reused for the result; one value per token. */
  out?: T;
}

/**
 * Puts one value per step on the tokens of the responses. Tokens after the last step get +0.
 *
 * @param values - one value per step
 * @param stepEnds - token index (within the response) of each step's last token, rising; the rows of `values`
 * @param offsets - token offsets, one row per response
 * @returns one value per token
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE`
 */
export function placeSteps<T extends Values>(
  values: Ragged<T>,
  stepEnds: Ragged<Int32Array>,
  offsets: Int32Array,
  options: PlaceStepsOptions<T> = {},
): Ragged<Owned<T>> {
  const { place = "end", separators = "keep", separatorTokens, mask, out } = options;
  assertRaggedValues(values, "values");
  assertTypedArray(offsets, "offsets", ["Int32Array"]);
  const total = offsets[offsets.length - 1] ?? 0;
  assertOffsets(offsets, total, "offsets");
  assertOneOf(place, "place", ["end", "span"]);
  assertOneOf(separators, "separators", ["keep", "zero"]);
  if (offsets.length !== values.offsets.length) {
    throw new ArgumentError(
      "ERR_SHAPE",
      `offsets: expected the ${values.offsets.length - 1} rows of values, got ${offsets.length - 1}`,
    );
  }
  assertStepEnds(stepEnds, "stepEnds", values.offsets, "values", offsets);
  const data = outputLike(out, values.data, total, "out", "values.data");
  const zeroAt =
    separators === "keep"
      ? null
      : (checkMask(separatorTokens, "separatorTokens", total, values.data) ?? flags(stepEnds, offsets));
  launch(
    "placeSteps",
    addon().credit.placeSteps,
    values.data,
    values.offsets,
    stepEnds.data,
    offsets,
    place === "end" ? 0 : 1,
    zeroAt,
    checkMask(mask, "mask", total, values.data),
    data,
  );
  return { data, offsets };
}

function flags(stepEnds: Ragged<Int32Array>, offsets: Int32Array): Uint8Array {
  const out = new Uint8Array(offsets[offsets.length - 1]!);
  for (let i = 0; i + 1 < offsets.length; i++) {
    for (let k = stepEnds.offsets[i]!; k < stepEnds.offsets[i + 1]!; k++)
      out[offsets[i]! + stepEnds.data[k]!] = 1;
  }
  return out;
}

/** Steps found by {@link findStepEnds}. */
export interface FoundSteps {
  /** Token index (within the response) of each step's last token, rising, no index twice. */
  readonly stepEnds: Ragged<Int32Array<ArrayBuffer>>;
  /** One per token: 1 where a counted token is a separator or EOS. */
  readonly separatorTokens: Uint8Array<ArrayBuffer>;
}

/** Options of {@link findStepEnds}. */
export interface FindStepEndsOptions {
  /** Ids of the tokens that close a step (every id whose text ends with the separator, e.g. a blank line). */
  separators: Iterable<number>;
  /** Id or ids of the end-of-sequence token. */
  eos?: number | Iterable<number>;
  /** One per token: masked-out tokens (tool output) close nothing. */
  mask?: Uint8Array;
}

/**
 * Splits tokenised responses into steps. A step ends at a separator or EOS token; the last step ends at the last
 * counted token, whether the response was truncated or not, and a response that ends on a separator gets no extra
 * step. Two separators in a row make a step of one token. An empty response has no steps.
 *
 * @param tokens - token ids, one row per response, without padding
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE` for an id that is no integer >= 0, `ERR_SHAPE`
 */
export function findStepEnds(tokens: Ragged<Int32Array>, options: FindStepEndsOptions): FoundSteps {
  assertRagged(tokens, "tokens", ["Int32Array"]);
  const { data, offsets } = tokens;
  const { eos = [] } = options;
  const separators = tokenIds(options.separators, "separators");
  const ends = tokenIds(typeof eos === "number" ? [eos] : eos, "eos");
  const stepEnds = new Int32Array(data.length);
  const stepOffsets = new Int32Array(offsets.length);
  const separatorTokens = new Uint8Array(data.length);
  const found = addon().credit.findStepEnds(
    data,
    offsets,
    checkMask(options.mask, "mask", data.length),
    separators,
    ends,
    stepEnds,
    stepOffsets,
    separatorTokens,
  );
  return { stepEnds: { data: stepEnds.slice(0, found), offsets: stepOffsets }, separatorTokens };
}

function tokenIds(ids: Iterable<number>, name: string): Int32Array {
  if (ids === null || typeof ids !== "object" || !(Symbol.iterator in ids)) {
    throw new ArgumentError("ERR_ARGUMENT_TYPE", `${name}: expected token ids, got ${describe(ids)}`);
  }
  const list = [...ids];
  for (const id of list) {
    if (!Number.isInteger(id) || id < 0 || id > 0x7fffffff) {
      throw new ArgumentError(
        "ERR_ARGUMENT_VALUE",
        `${name}: expected token ids (integers >= 0), got ${describe(id)}`,
      );
    }
  }
  return Int32Array.from(list).sort();
}
