import { type Command, InvalidArgumentError, Option } from "commander";
import { aggregators } from "../prm/aggregate.ts";
import type { LoadPrmOptions } from "../prm/load.ts";

/** @internal Options of commands that load a PRM. */
export interface ModelFlags {
  model: string;
  convention?: string;
  reference?: string;
  policyTokenizer?: string;
  overlong?: "error" | "flag";
  split?: string;
  packed: boolean;
  batchTokens?: number;
  threads?: number;
  weights?: "in-place" | "float32";
  quantize?: "int8" | "int4";
}

/** @internal An integer > 0 on the command line. */
export function positive(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError("expected an integer > 0");
  return value;
}

/** @internal A number on the command line. */
export function number(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new InvalidArgumentError("expected a number");
  return value;
}

/** @internal Text in which \n, \t and \\ are written as in a string literal: shells pass them as two characters. */
export function unescapeText(text: string): string {
  return text.replace(
    /\\(.)/g,
    (whole, c: string) => ({ n: "\n", t: "\t", r: "\r", "\\": "\\" })[c] ?? whole,
  );
}

/** @internal Adds the options that say which PRM is loaded and how. */
export function addModelFlags(command: Command, overlong: "error" | "flag"): Command {
  return command
    .requiredOption("--model <dir|id>", "checkpoint folder, or owner/name on the hub")
    .option("--convention <name|file>", "how the PRM is fed and read; default: detected")
    .option("--reference <dir|id>", "second model of an implicit PRM")
    .option("--policy-tokenizer <dir|id>", "tokenizer of response_ids, when it is not the PRM's")
    .addOption(
      new Option("--overlong <how>", "inputs past the model's context")
        .choices(["error", "flag"])
        .default(overlong),
    )
    .option(
      "--split <text>",
      "splits responses into steps; \\n is a newline; default: the convention's",
      unescapeText,
    )
    .option("--no-packed", "score prefixes one by one instead of in one packed pass")
    .option("--batch-tokens <n>", "tokens per batch", positive)
    .option("--threads <n>", "threads of the model", positive)
    .addOption(
      new Option("--weights <form>", "weights stay in their file, or become float32 at load").choices([
        "in-place",
        "float32",
      ]),
    )
    .addOption(
      new Option(
        "--quantize <form>",
        "block-wise quantised weights, written once to a cache; their effect on the scores of the first rows is told",
      ).choices(["int8", "int4"]),
    );
}

/** @internal The option that names an aggregator. */
export function aggregateOption(): Option {
  return new Option("--aggregate <name>", "one score per solution; default: the convention's").choices([
    ...aggregators,
  ]);
}

/** @internal What {@link loadPrm} is called with. */
export function toLoadOptions(flags: ModelFlags): LoadPrmOptions {
  const { convention, reference, policyTokenizer, overlong, split } = flags;
  const { packed, batchTokens, threads, weights, quantize } = flags;
  return {
    packed,
    ...(convention === undefined ? {} : { convention }),
    ...(reference === undefined ? {} : { reference }),
    ...(policyTokenizer === undefined ? {} : { policyTokenizer }),
    ...(overlong === undefined ? {} : { overlong }),
    ...(split === undefined ? {} : { split }),
    ...(batchTokens === undefined ? {} : { batchTokens }),
    ...(threads === undefined ? {} : { threads }),
    ...(weights === undefined ? {} : { weights }),
    ...(quantize === undefined ? {} : { quantize }),
  };
}

/** @internal What must be the same for a resumed run: all that may change a bit of a score. */
export function resumeSettings(flags: ModelFlags): Record<string, unknown> {
  const { reference, policyTokenizer, overlong, split } = flags;
  const { packed, batchTokens, threads, weights, quantize } = flags;
  return { reference, policyTokenizer, overlong, split, packed, batchTokens, threads, weights, quantize };
}
