import type * as z from "zod";
import { keyPaths } from "./keys.ts";

/** @internal `; did you mean ...?` for a key that is not known, or nothing when none is near. */
export function didYouMean(path: readonly string[], unknown: string, schema: z.ZodType): string {
  const written = plain(unknown);
  let best: { key: string; distance: number } | undefined;
  for (const key of keyPaths(schema)) {
    const parts = key.split(".");
    const name = parts.pop()!;
    // Elsewhere in the config only the very word counts, whatever its spelling.
    const here = parts.join(".") === path.join(".");
    const distance = editDistance(written, plain(name));
    const limit = here ? tolerance(written) : 0;
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { key, distance };
  }
  return best === undefined ? "" : `; did you mean ${best.key}?`;
}

/** @internal `; did you mean ...?` for a value that is none of those there are, or nothing when none is near. */
export function orDidYouMean(written: unknown, values: readonly string[]): string {
  if (typeof written !== "string") return "";
  const word = plain(written);
  const near = values
    .map((value) => ({ value, distance: editDistance(word, plain(value)) }))
    .filter(({ distance }) => distance <= tolerance(word) && distance < word.length)
    .sort((a, b) => a.distance - b.distance)[0];
  return near === undefined ? "" : `; did you mean "${near.value}"?`;
}

// Letters that may be wrong in a word that is still meant.
const tolerance = (word: string): number => Math.max(1, Math.floor(word.length / 3));

const plain = (key: string): string => key.toLowerCase().replace(/[_-]/g, "");

/** @internal Letters to put in, take out or replace. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length]!;
}
