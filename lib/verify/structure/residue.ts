import { divide, isInteger, add, negate } from "../exact/rational.ts";
import { closing, is, symbol, type Token } from "../normalize/token.ts";
import type { Budget } from "../numeric/budget.ts";
import { assignedName } from "./names.ts";
import { readScalar } from "./scalar.ts";
import { compareScalars } from "./scalars.ts";
import type { Outcome, Residue, Value } from "./value.ts";

/** @internal Reads `5 \\pmod 7`, `5 (mod 7)` and `x \\equiv 5 \\pmod 7`. */
export function readResidue(
  tokens: readonly Token[],
  key: string,
  readElement: (tokens: readonly Token[]) => Value,
): Residue | undefined {
  const at = tokens.findLastIndex((found) => is(found, "\\pmod") || found.text === "mod");
  if (at < 1) return undefined;
  const command = tokens[at]!.kind === "command";
  const open = command ? at + 1 : at - 1;
  if (open < 1 || !is(tokens[open], command ? "{" : "(") || closing(tokens, open) !== tokens.length - 1)
    return undefined;
  const stated = tokens.slice(0, command ? at : open);
  const congruent = stated.some((found) => is(found, "\\equiv"));
  const equation = stated.map((found) => (is(found, "\\equiv") ? symbol("=") : found));
  const value = congruent ? assignedName(equation)?.value : stated;
  if (value === undefined || value.length === 0) return undefined;
  return {
    kind: "residue",
    key,
    value: readElement(value),
    modulus: readScalar(tokens.slice(at + 1 + Number(command), -1)),
  };
}

/** @internal The same modulus, and values that are equal or a multiple of it apart. */
export function compareResidues(
  a: Residue,
  b: Residue,
  compare: (a: Value, b: Value) => Outcome,
  budget: Budget,
): Outcome {
  const moduli = compareScalars(a.modulus, b.modulus, budget);
  if (moduli !== "equal") return moduli;
  const [x, y, modulus] = [exactOf(a.value), exactOf(b.value), a.modulus.exact];
  const apart = x && y && add(x, negate(y));
  const multiple = apart && modulus && divide(apart, modulus);
  if (multiple !== undefined) return isInteger(multiple) ? "equal" : "different";
  return compare(a.value, b.value);
}

function exactOf(value: Value) {
  return value.kind === "scalar" ? value.exact : undefined;
}
