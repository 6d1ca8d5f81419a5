import { is, type Token } from "../normalize/token.ts";
import { readScalar } from "./scalar.ts";
import { splitTop } from "./split.ts";
import type { Ratio } from "./value.ts";

/** @internal Reads `3:4`. A part with a leading zero, or zero itself, makes it a time of day. */
export function readRatio(tokens: readonly Token[], key: string): Ratio | undefined {
  const { parts } = splitTop(tokens, (found) => is(found, ":"));
  if (parts.length < 2 || parts.some((part) => part.length === 0)) return undefined;
  const scalars = parts.map(readScalar);
  const clock = parts
    .slice(1)
    .some(([head, ...rest]) => rest.length === 0 && head!.kind === "number" && /^0\d?$/.test(head!.text));
  return { kind: "ratio", key, parts: scalars, clock };
}
