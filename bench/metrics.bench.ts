import { repetitionScores } from "../lib/index.ts";
import type { BenchCase } from "./case.ts";

export default (): BenchCase[] => {
  const words = ["so ", "the ", "sum ", "is ", "x = 2", "3 + 4", ", then ", "again ", "\n\n"];
  let x = 1;
  const text = (length: number) => {
    let out = "";
    while (out.length < length) {
      x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
      out += words[(x >>> 16) % words.length];
    }
    return out.slice(0, length);
  };
  const responses = Array.from({ length: 256 }, () => text(4000));
  const megabyte = ["a".repeat(2 ** 20)];
  return [
    {
      family: "metrics",
      name: "repetitionScores 256 x 4000 characters",
      bytes: 4 * 256 * 4000,
      run: () => repetitionScores(responses),
      javascript: () => responses.map(plainScore),
    },
    {
      family: "metrics",
      name: "repetitionScores one letter, 1 MiB",
      bytes: 4 * 2 ** 20,
      run: () => repetitionScores(megabyte),
    },
  ];
};

// Suffixes as strings: what a first version in JavaScript looks like.
function plainScore(text: string): number {
  const suffixes = Array.from(text, (_, i) => text.slice(i)).sort((a, b) => (a < b ? -1 : 1));
  let sum = 0;
  for (let k = 1; k < suffixes.length; k++) {
    const [a, b] = [suffixes[k - 1]!, suffixes[k]!];
    let shared = 0;
    while (shared < a.length && shared < b.length && a[shared] === b[shared]) shared++;
    sum += shared;
  }
  return (2 * sum) / (text.length * (text.length + 1));
}
