import type * as z from "zod";
import { didYouMean } from "./suggest.ts";

/** @internal What is wrong with a config, a line per fault: the key, what was expected, what came. */
export function explain(error: z.ZodError, schema: z.ZodType, source: string): string {
  const faults = error.issues.flatMap((issue) => faultsOf(issue, schema));
  return faults.length === 1
    ? `${source}: ${faults[0]}`
    : `${source}: ${faults.length} faults:\n${faults.map((fault) => `  ${fault}`).join("\n")}`;
}

function faultsOf(issue: z.core.$ZodIssue, schema: z.ZodType): string[] {
  const path = issue.path.map(String);
  const key = path.join(".");
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map(
      (unknown) => `${[...path, unknown].join(".")}: no such key${didYouMean(path, unknown, schema)}`,
    );
  }
  const wanted = issue.message
    .replace(/^Invalid (input|option|value): /, "")
    .replace(/^Too (small|big): /, "");
  return [`${key === "" ? "the config" : key}: ${wanted}`];
}
