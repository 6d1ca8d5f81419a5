import type * as z from "zod";
import { keyPaths } from "./keys.ts";
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
  if (issue.code === "invalid_union") return unionFaults(issue, schema);
  return [`${key === "" ? "the config" : key}: ${wanted(issue, key, schema)}`];
}

// Of several forms the one is meant that takes the value but for something inside it.
function unionFaults(issue: z.core.$ZodIssueInvalidUnion, schema: z.ZodType): string[] {
  const key = issue.path.join(".");
  const meant = issue.errors.find((inner) =>
    inner.every(({ code, path }) => path.length > 0 || code === "unrecognized_keys"),
  );
  if (meant === undefined) {
    return [`${key}: ${issue.errors.map(([first]) => wanted(first!, key, schema)).join("; or ")}`];
  }
  return meant.flatMap((inner) => faultsOf({ ...inner, path: [...issue.path, ...inner.path] }, schema));
}

function wanted(issue: z.core.$ZodIssue, key: string, schema: z.ZodType): string {
  const said = issue.message
    .replace(/^Invalid (input|option|value): /, "")
    .replace(/^Too (small|big): /, "")
    .replace(/, received string$/, ", got text")
    .replace(/, received undefined$/, ", got nothing")
    .replace(/, received /, ", got ");
  if (issue.code !== "invalid_type" || issue.expected !== "object") return said;
  const inside = keyPaths(schema).find((path) => path.startsWith(`${key}.`));
  return said.replace(
    "expected object",
    `expected keys and values${inside === undefined ? "" : ` such as ${inside}`}`,
  );
}
