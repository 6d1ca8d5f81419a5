import { type Command, Option } from "commander";
import { ArgumentError } from "../errors.ts";
import type { GradingOptions } from "../verify/pool/protocol.ts";
import type { VerifierOptions } from "../verify/pool/verifier.ts";
import { graderNames, type GraderName } from "../verify/presets/names.ts";
import { positive } from "./prm-options.ts";

/** @internal Options of commands that grade answers. */
export interface GraderFlags {
  grader: GraderName;
  fallback?: NonNullable<GradingOptions["fallback"]>;
  decimals?: NonNullable<GradingOptions["decimals"]>;
  workers?: number;
  timeLimit?: number;
}

/** @internal Adds the options of {@link GraderFlags}. */
export function addGraderFlags(command: Command): Command {
  return command
    .addOption(
      new Option("--grader <name>", "whose rules decide").choices([...graderNames]).default("default"),
    )
    .addOption(
      new Option("--fallback <where>", "where to look for an answer without a box; default: nowhere").choices(
        ["none", "phrases", "lastNumber"],
      ),
    )
    .addOption(
      new Option(
        "--decimals <meaning>",
        "what a decimal as reference means: that number, or all that round to it",
      ).choices(["exact", "significant"]),
    )
    .option("--workers <n>", "threads for what takes longer than microseconds", positive)
    .option("--time-limit <ms>", "milliseconds that one pair may take; default 1000", positive);
}

/**
 * @internal What the flags say, for a verifier.
 *
 * @throws {@link ArgumentError} `ERR_ARGUMENT_VALUE` for a rule of this library's grader beside another grader
 */
export function graderSettings(flags: GraderFlags): VerifierOptions {
  const { grader, fallback, decimals, workers, timeLimit } = flags;
  if (grader !== "default" && (fallback !== undefined || decimals !== undefined)) {
    const name = fallback !== undefined ? "fallback" : "decimals";
    throw new ArgumentError("ERR_ARGUMENT_VALUE", `${name}: expected grader default, got ${grader}`);
  }
  return {
    grader,
    ...(fallback !== undefined && { fallback }),
    ...(decimals !== undefined && { decimals }),
    ...(workers !== undefined && { workers }),
    ...(timeLimit !== undefined && { timeLimit }),
  };
}
