import { existsSync } from "node:fs";
import { PrmError } from "../errors.ts";
import type { HeadRunner, Tokenizer } from "../model/types.ts";
import { bindConvention } from "./bind.ts";
import { type Convention, type ConventionInput, parseConvention, readConvention } from "./convention.ts";
import { families } from "./families.ts";
import { checkPrepareOptions, Prm } from "./prm.ts";
import { classesNeeded } from "./transform.ts";

/** Options that shape what is fed and how it is batched. */
export interface PrmOptions {
  /** `"error"` (default): an input past the model's context is an error; `"flag"`: its steps get NaN and are listed. */
  overlong?: "error" | "flag";
  /** Score the prefixes of a solution in one packed pass (default true), where a convention reads prefixes. */
  packed?: boolean;
  /** Splits responses into steps; default is the convention's. */
  split?: string;
  /** Tokens per batch; a longer input is a batch of its own. Default 4096. */
  batchTokens?: number;
  /** Tokenizer of `responseIds`, when the policy's is not the PRM's. */
  policyTokenizer?: Tokenizer;
}

/**
 * A built-in convention by name, one from a JSON file, or an object, checked.
 *
 * @throws {@link PrmError} `ERR_CONVENTION`
 */
export function resolveConvention(convention: string | ConventionInput): Convention {
  if (typeof convention !== "string") return parseConvention(convention);
  const known = Object.hasOwn(families, convention) ? families[convention] : undefined;
  if (known !== undefined) return known;
  if (convention.endsWith(".json") || existsSync(convention)) return readConvention(convention);
  throw new PrmError(
    "ERR_CONVENTION",
    `convention: expected one of ${Object.keys(families).join(", ")} or a JSON file, got ${JSON.stringify(convention)}`,
  );
}

/**
 * A scorer over a model of your own: anything that gives the head's raw outputs at given positions. {@link loadPrm} is
 * this over a checkpoint folder.
 *
 * @param parts - `reference` is the second model of an implicit PRM
 * @throws {@link PrmError} `ERR_CONVENTION` when convention, tokenizer and head do not fit together
 */
export function createPrm(
  parts: {
    model: string;
    convention: string | ConventionInput;
    tokenizer: Tokenizer;
    runner: HeadRunner;
    reference?: HeadRunner;
  },
  options: PrmOptions = {},
): Prm {
  checkPrepareOptions(options);
  const convention = resolveConvention(parts.convention);
  const bound = bindConvention(convention, parts.tokenizer);
  const { runner, reference } = parts;
  const needed = convention.labels?.length ?? classesNeeded(convention);
  const wide = convention.score.transform.startsWith("softmax");
  if (wide ? runner.outputs < needed : runner.outputs !== 1) {
    throw new PrmError(
      "ERR_CONVENTION",
      `convention ${convention.name}: expected a head of ${wide ? `at least ${needed}` : 1} outputs for ${convention.score.transform}, the model has ${runner.outputs}`,
    );
  }
  if ((convention.head === "lm") !== (reference !== undefined)) {
    throw new PrmError(
      "ERR_CONVENTION",
      convention.head === "lm"
        ? `convention ${convention.name}: is implicit and needs a reference model`
        : `convention ${convention.name}: takes no reference model`,
    );
  }
  return new Prm({
    model: parts.model,
    bound,
    runner,
    ...(reference === undefined ? {} : { reference }),
    batchTokens: options.batchTokens ?? 4096,
    prepare: {
      maxLength: least(runner.maxLength, reference?.maxLength),
      overlong: options.overlong ?? "error",
      packedLength: options.packed === false ? 0 : least(runner.treeLength, reference?.treeLength),
      split: options.split ?? convention.split,
      policyTokenizer: options.policyTokenizer ?? parts.tokenizer,
    },
  });
}

const least = (a = Infinity, b = Infinity): number => Math.min(a, b);
