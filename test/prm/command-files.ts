// A folder for the files of commands, and a checkpoint for them that loads at once.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChildProcess } from "node:child_process";
import { afterAll, afterEach, vi } from "vitest";
import { sharedPath } from "../support/checkpoints.ts";

/** The reference checkpoint, with the stock tokenizer; reading that is most of what loading it takes. */
export const pure = sharedPath("checkpoints", "pure-prm-tiny");
if (pure === undefined) console.info("commands on a checkpoint: skipped, no shared data");

const folders: string[] = [];
afterEach(() => vi.restoreAllMocks());
afterAll(() => {
  for (const path of folders) rmSync(path, { recursive: true, force: true });
});

function newFolder(): string {
  const made = mkdtempSync(join(tmpdir(), "minform-command-"));
  folders.push(made);
  return made;
}

export const folder = newFolder();
export const at = (name: string): string => join(folder, name);
export const read = (name: string): string => readFileSync(at(name), "utf8");
export const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** A copy of a checkpoint with some of its files replaced. */
export function copyOf(checkpoint: string, files: Record<string, string>): string {
  const copy = newFolder();
  cpSync(checkpoint, copy, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    rmSync(join(copy, name)); // the copy is as read-only as the original
    writeFileSync(join(copy, name), text);
  }
  return copy;
}

/** The reference checkpoint with the first 4096 words of its tokenizer, under the same ids. */
export const light = pure === undefined ? "" : copyOf(pure, { "tokenizer.json": firstWords(pure, 4096) });

function firstWords(checkpoint: string, count: number): string {
  const tokenizer = JSON.parse(readFileSync(join(checkpoint, "tokenizer.json"), "utf8"));
  const { vocab, merges } = tokenizer.model;
  const kept = new Map(Object.entries<number>(vocab).filter(([, id]) => id < count));
  tokenizer.model.vocab = Object.fromEntries(kept);
  tokenizer.model.merges = merges.filter((merge: string | string[]) => {
    const pair = typeof merge === "string" ? merge.split(" ") : merge;
    return [...pair, pair.join("")].every((word) => kept.has(word));
  });
  return JSON.stringify(tokenizer);
}

/** Waits until a condition holds or the process has ended. */
export async function until(child: ChildProcess, condition: () => boolean): Promise<void> {
  while (!condition() && child.exitCode === null && child.signalCode === null)
    await new Promise((done) => setTimeout(done, 1));
}

/** Lines that a job in progress has dealt with. */
export function linesDone(out: string): number {
  try {
    return JSON.parse(read(`${out}.resume.json`)).lines;
  } catch {
    return 0;
  }
}
