import { is, type Token } from "../normalize/token.ts";
import { readScalar } from "./scalar.ts";
import { splitTop } from "./split.ts";
import type { Ratio } from "./value.ts";

/** @internal Reads `3:4`. A part with a leading zero, zero itself or a unit (pm) makes it a time of day. */
export function readRatio(tokens: readonly Token[], key: string): Ratio | undefined {
  const { parts } = splitTop(tokens, (found) => is(found, ":"));
  if (parts.length < 2 || parts.some((part) => part.length === 0)) return undefined;
  const scalars = parts.map(readScalar);
  const padded = parts.slice(1).some((part) => part.length === 1 && /^0\d?$/.test(part[0]!.text));
  const clock = padded || scalars.some(({ unit }) => unit !== undefined);
  return { kind: "ratio", key, parts: scalars, clock };
}
