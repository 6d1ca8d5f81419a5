import { loadReader } from "../lib/verify/numeric/reader.ts";
import { verify } from "../lib/verify/index.ts";
import type { BenchCase } from "./case.ts";

// Forms and shares of the MATH test set's answers: four in five are plain numbers.
const NOTATIONS: readonly ((k: number) => readonly [string, string])[] = [
  (k) => [`${k}`, `${k}`],
  (k) => [`${k}.0`, `${k}`],
  (k) => [`$${k + 1}$`, `${k}`],
  (k) => [`${k}/7`, `\\frac{${k}}{7}`],
  (k) => [`\\dfrac{${k}}{9}`, `\\frac{${k}}{9}`],
  (k) => [`x = ${k}`, `${k}`],
  (k) => [`${k}\\text{ cm}`, `${k}`],
  (k) => [`(${k}, -1)`, `(${k},-1)`],
  (k) => [`${k}\\sqrt{3}`, `${k} \\sqrt3`],
  (k) => [`x^2+${k}x`, `x(x+${k})`],
];

export default (): BenchCase[] => {
  loadReader();
  const simple = Array.from({ length: 2000 }, (_, k) => NOTATIONS[k % 5]!(k + 2));
  const mixed = Array.from({ length: 500 }, (_, k) => NOTATIONS[k % 10]!(k + 2));
  const symbolic = Array.from(
    { length: 50 },
    (_, k) => [`\\frac{1}{\\sqrt{${k + 2}}-1}`, `\\frac{\\sqrt{${k + 2}}+1}{${k + 1}}`] as const,
  );
  const bytes = (pairs: readonly (readonly [string, string])[]): number =>
    pairs.reduce((sum, [a, b]) => sum + 2 * (a.length + b.length), 0);
  const grade = (pairs: readonly (readonly [string, string])[]) => () =>
    pairs.map(([a, b]) => verify(a, b).status);
  return [
    {
      family: "verify",
      name: "2000 pairs of integers and fractions",
      bytes: bytes(simple),
      run: grade(simple),
      javascript: () => simple.map(([a, b]) => a.replaceAll(" ", "") === b.replaceAll(" ", "")),
    },
    { family: "verify", name: "500 pairs of the forms of MATH", bytes: bytes(mixed), run: grade(mixed) },
    { family: "verify", name: "50 pairs with roots", bytes: bytes(symbolic), run: grade(symbolic) },
  ];
};
