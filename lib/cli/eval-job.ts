import { existsSync } from "node:fs";
import { Presets, SingleBar } from "cli-progress";
import { ArgumentError } from "../errors.ts";
import { writeWhole } from "../atomic-file.ts";
import { evalNotes, evalTables } from "../report/eval-tables.ts";
import {
  benchmarkOf,
  type EvalDataset,
  type EvalResults,
  evaluate,
  fileGenerator,
  type GenerationsFile,
  loadDataset,
  verifierGrader,
} from "../verify/index.ts";
import type { EvalFlags } from "./eval.ts";
import { graderSettings } from "./grader-options.ts";
import { printable } from "./printable.ts";
import { textTable } from "./text-table.ts";

/** @internal Runs `minform eval`. */
export async function runEval(flags: EvalFlags, signal: AbortSignal): Promise<void> {
  const { samples, k, missing, out, report, quiet = false } = flags;
  const settings = graderSettings(flags);
  const { conventions, sources } = sortOut((flags.dataset ?? []).map(named));
  const files = flags.in.map(named).map(({ name = conventions, value: path }): GenerationsFile => {
    return name === undefined ? { path } : { path, dataset: benchmarkOf(name)?.name ?? name };
  });
  // Qwen's evaluation knows the first of several answers.
  const elements = flags.grader.startsWith("qwen") ? "first" : "all";
  const datasets: EvalDataset[] = [];
  for (const { name, value } of sources)
    datasets.push(await loadDataset(value, { elements, signal, ...(name && { benchmark: name }) }));
  const view = progress(quiet);
  try {
    await using grader = verifierGrader(settings);
    const results = await evaluate(fileGenerator(files), {
      grader,
      missing,
      signal,
      keepResponses: report !== undefined,
      onProgress: ({ graded }) => view.update(graded),
      ...(datasets.length > 0 && { datasets }),
      ...(samples !== undefined && { samples }),
      ...(k !== undefined && { k }),
    });
    view.stop();
    if (out !== undefined) writeWhole(out, `${JSON.stringify(results, withoutResponses, 2)}\n`);
    if (report !== undefined) await writeReport(report, results);
    if (!quiet) process.stdout.write(render(results));
    for (const note of evalNotes(results)) process.stderr.write(`${printable(note, 2000)}\n`);
  } finally {
    view.stop();
  }
}

// The charts take most of the time to load, so only who wants a report waits for them. (In a function of its own: tsc
// leaves the extension of an import() beside `using` as it is.)
async function writeReport(path: string, results: EvalResults): Promise<void> {
  const { renderEvalReport } = await import("../report/index.ts");
  writeWhole(path, renderEvalReport(results));
}

interface Named {
  readonly name?: string;
  readonly value: string;
}

// name=value, unless that is the name of a file.
function named(text: string): Named {
  const [, name, value] = /^([\w-]+)=(.+)$/s.exec(text) ?? [];
  return name === undefined || existsSync(text) ? { value: text } : { name, value: value! };
}

// A benchmark's name alone says whose conventions hold: the references are in the generations.
function sortOut(all: readonly Named[]): { conventions?: string; sources: readonly Named[] } {
  const alone = all.filter(
    ({ name, value }) => name === undefined && benchmarkOf(value) !== undefined && !existsSync(value),
  );
  if (alone.length === 0) return { sources: all };
  if (all.length > 1) {
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      `dataset: expected one name alone, or a source for each (${alone[0]!.value}=<path or hub id>), got ${all.length}`,
    );
  }
  return { conventions: alone[0]!.value, sources: [] };
}

// Responses are for the report; in the results they would be a copy of the input.
function withoutResponses(key: string, value: unknown): unknown {
  return key === "response" ? undefined : value;
}

function progress(quiet: boolean): { update(graded: number): void; stop(): void } {
  if (quiet || !process.stderr.isTTY) return { update() {}, stop() {} };
  const bar = new SingleBar(
    { format: "{value} samples graded", stream: process.stderr, hideCursor: true, clearOnComplete: true },
    Presets.shades_classic,
  );
  bar.start(0, 0);
  return { update: (graded) => bar.update(graded), stop: () => bar.stop() };
}

function render(results: EvalResults): string {
  return `${evalTables(results).map(textTable).join("\n\n")}\n`;
}
