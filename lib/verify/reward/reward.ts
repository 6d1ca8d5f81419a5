import { ArgumentError } from "../../errors.ts";
import { assertOneOf, describe } from "../../validate.ts";
import { findBoxes } from "../extract/boxed.ts";
import { type BatchOptions, createVerifier, type Verifier, type VerifierOptions } from "../pool/verifier.ts";
import type { Grader } from "../presets/index.ts";
import type { Verdict } from "../types.ts";

/** How right and wrong become numbers. `zero-one`: 1 and 0. `minus-one-zero`: 0 and -1, as in PURE's main branch. */
export type RewardCoding = "zero-one" | "minus-one-zero";

/** What a response must look like besides being right. */
export type FormatName = "boxed" | "think";

/** Options of {@link createReward}. */
export interface RewardOptions extends VerifierOptions {
  /** Default `zero-one`. */
  readonly coding?: RewardCoding;
  /**
   * References that say that no answer is known; such prompts are unscorable. Default `["null"]`, as in PURE's data; a
   * reference that is null or undefined always is.
   */
  readonly unknown?: readonly string[];
  /**
   * What an unscorable response gets: `nan` (default), which {@link index.rloo | rloo} and its like leave out with
   * `unscorable: "exclude"`, or `solved`, the value of a right answer, as PURE does.
   */
  readonly unscorable?: "nan" | "solved";
  /** Demands on the form: `boxed`, a complete box after the thinking; `think`, thinking that is ended once. */
  readonly format?: readonly FormatName[];
  /** What a violation of the form costs; default 0, which only reports it. */
  readonly formatPenalty?: number;
  /** A grader of one's own in place of the named ones; it is called in this thread. */
  readonly custom?: (pair: Parameters<Grader>[0]) => Verdict | Promise<Verdict>;
}

/** A response and the reference of its prompt. */
export interface RewardItem {
  /** What the model wrote. */
  readonly response: string;
  /** The right answer; null where none is known. */
  readonly reference: string | null | undefined;
}

/** The reward of one response. */
export interface Reward {
  /** Value by the coding, less the format penalty; NaN where it is unscorable. */
  readonly value: number;
  /** What the grader found; undefined where no answer is known. */
  readonly verdict: Verdict | undefined;
  /** False where no answer is known, or the reference cannot be read. */
  readonly scorable: boolean;
  /** Demands on the form that are not met. */
  readonly violations: readonly FormatName[];
}

/** Gives responses their verifiable reward. */
export interface RewardFunction {
  /** Rewards in the order of the items, exactly one for each. */
  score(items: readonly RewardItem[], options?: BatchOptions): Promise<Reward[]>;
  /** Ends the threads. */
  close(): Promise<void>;
}

/**
 * The verifiable reward as one object, for a trainer or a server.
 *
 * `value = right - offset - formatPenalty * violations`, right in {0, 1}, offset 0 (`zero-one`) or 1
 * (`minus-one-zero`). A time-out, an answer that cannot be read and a missing answer count as wrong; a reference that
 * cannot be read makes the response unscorable instead of paying it. To be added after credit assignment, as its own
 * stream.
 *
 * @throws {@link index.ArgumentError | ArgumentError} `ERR_ARGUMENT_VALUE` for options out of range
 */
export function createReward(options: RewardOptions = {}): RewardFunction {
  const {
    coding = "zero-one",
    unknown = ["null"],
    unscorable = "nan",
    format = [],
    formatPenalty = 0,
    custom,
    ...verifying
  } = options;
  assertOneOf(coding, "coding", ["zero-one", "minus-one-zero"]);
  assertOneOf(unscorable, "unscorable", ["nan", "solved"]);
  for (const name of format) assertOneOf(name, "format", ["boxed", "think"]);
  if (!(Number.isFinite(formatPenalty) && formatPenalty >= 0)) {
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      `formatPenalty: expected a number >= 0, got ${describe(formatPenalty)}`,
    );
  }
  const offset = coding === "zero-one" ? 0 : 1;
  const verifier = custom === undefined ? createVerifier(verifying) : calling(custom);
  return {
    async score(items, batch) {
      const known = items.map(({ reference }) => reference != null && !unknown.includes(reference.trim()));
      const pairs = items
        .filter((_, i) => known[i])
        .map(({ response, reference }) => ({ response, reference: reference! }));
      const verdicts = (await verifier.verify(pairs, batch))[Symbol.iterator]();
      return items.map(({ response }, i): Reward => {
        const verdict = known[i] ? (verdicts.next().value as Verdict) : undefined;
        const scorable = verdict !== undefined && verdict.status !== "badReference";
        const violations = format.filter((name) => !FORMATS[name](response));
        const right = scorable
          ? Number(verdict.status === "equal")
          : unscorable === "solved"
            ? 1
            : Number.NaN;
        return { value: right - offset - formatPenalty * violations.length, verdict, scorable, violations };
      });
    },
    close: () => verifier.close(),
  };
}

const FORMATS: Readonly<Record<FormatName, (response: string) => boolean>> = {
  boxed: (response) => findBoxes(response.slice(response.lastIndexOf("</think>") + 1)).length > 0,
  think: (response) => {
    const ends = response.split("</think>").length - 1;
    const starts = response.split("<think>").length - 1;
    return ends === 1 && starts <= 1 && response.indexOf("<think>") < response.indexOf("</think>");
  },
};

// A custom grader that fails says nothing about its pair.
function calling(custom: NonNullable<RewardOptions["custom"]>): Verifier {
  return {
    async verify(pairs, { signal, onProgress } = {}) {
      const verdicts: Verdict[] = [];
      for (const pair of pairs) {
        signal?.throwIfAborted();
        try {
          verdicts.push(await custom(pair));
        } catch (error) {
          verdicts.push({ status: "unparsed", detail: (error as Error).message });
        }
        onProgress?.({ done: verdicts.length, total: pairs.length });
      }
      return verdicts;
    },
    async close() {},
  };
}
