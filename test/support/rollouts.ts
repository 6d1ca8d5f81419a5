// Rollout files for tests.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** Real solutions of 12 models; the data is not part of this repository. */
export const REAL_FILE = new URL("../../../shared/data/rollouts-processbench.jsonl", import.meta.url)
  .pathname;

/** Whether the real file is there; says so once when it is not. */
export function hasRealFile(): boolean {
  const found = existsSync(REAL_FILE);
  if (!found) console.warn(`skipped: ${REAL_FILE} is not there`);
  return found;
}

/** A folder that is removed after the tests of the calling file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "minform-test-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A row with what every row needs. */
export function rowOf(more: object = {}): Record<string, unknown> {
  return { group: "g", steps: ["a", "b"], step_rewards: [0.5, -0.25], ...more };
}

/** Rows of `groups` groups of `size`, with a right and a wrong answer in each. */
export function manyRows(groups: number, size = 2, more: (i: number) => object = () => ({})): object[] {
  return Array.from({ length: groups * size }, (_, i) => ({
    id: `r${i}`,
    group: `g${Math.floor(i / size)}`,
    steps: ["one", "two", "three"].slice(0, 1 + (i % 3)),
    step_rewards: [0.5, -0.5, 0.25].slice(0, 1 + (i % 3)),
    final_answer_correct: i % 2 === 0,
    ...more(i),
  }));
}

/** Writes lines, each a row or a text, and gives back the path. */
export function writeLines(folder: string, lines: readonly (object | string)[], name = "in.jsonl"): string {
  const path = join(folder, name);
  writeFileSync(
    path,
    lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""),
  );
  return path;
}

/** The rows of a JSONL file. */
// biome-ignore lint/suspicious/noExplicitAny: rows of files are looked at key by key
export function readRows(path: string): any[] {
  return readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}
