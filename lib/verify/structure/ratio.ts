import { is, type Token } from "../normalize/token.ts";
import { readScalar } from "./scalar.ts";
import { splitTop } from "./split.ts";
import type { Ratio } from "./value.ts";

/** @internal Reads `3:4`. A part with a leading zero, zero itself or a unit (pm) makes it a time of day. */
export function readRatio(tokens: readonly Token[], key: string): Ratio | undefined {
  const { parts } = splitTop(
    tokens,
    (found) => is(found, ":") || (found.kind === "word" && found.text === "to"),
  );
  if (parts.length < 2 || parts.some((part) => part.length === 0)) return undefined;
  const scalars = parts.map((part) => readScalar(joinHalf(part)));
  const padded = parts.slice(1).some((part) => part.length === 1 && /^0\d?$/.test(part[0]!.text));
  const clock = padded || scalars.some(({ unit }) => unit !== undefined);
  return { kind: "ratio", key, parts: scalars, clock };
}

// p.m. is pm.
function joinHalf(part: readonly Token[]): readonly Token[] {
  const [half, point, m] = part.slice(1);
  const dotted = /^[ap]$/i.test(half?.text ?? "") && is(point, ".") && /^m$/i.test(m?.text ?? "");
  if (!dotted || part.length > 4 + Number(is(part[4], "."))) return part;
  return [part[0]!, { ...half!, kind: "word", text: `${half!.text}m`.toLowerCase() }];
}
