// The table on the terminal, and the same numbers as CSV and JSON.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Table from "cli-table3";
import type { Bandwidth } from "./bandwidth.ts";
import type { BenchCase } from "./case.ts";

/** Where the numbers come from. */
export interface Machine {
  processor: string;
  threads: number;
  isa: string;
  node: string;
  torch: string | null;
  bandwidth: Bandwidth | null;
  /** Load average of the last minute when the run began: above 0.5 the numbers are not to be trusted. */
  load: number;
}

/** Milliseconds of each contender, null for those that did not run. */
export interface Times {
  minform: number | null;
  javascript: number | null;
  torchEager: number | null;
  torchCompiled: number | null;
}

/** Medians of one case, and its fastest rounds. */
export interface Result extends Times, Pick<BenchCase, "family" | "name" | "bytes"> {
  traffic: "read" | "copy";
  fastest: Times;
  notes: string[];
}

const CONTENDERS = ["javascript", "torchEager", "torchCompiled"] as const;

/** Ratios above 1: minform is that many times faster. */
export function table(results: readonly Result[], bandwidth: Bandwidth | null): string {
  const out = new Table({
    head: ["family", "case", "ms", "GB/s", "of bandwidth", "plain JS", "torch eager", "torch.compile"],
    colAligns: ["left", "left", "right", "right", "right", "right", "right", "right"],
    style: { head: [], border: [] },
  });
  for (const result of results) {
    const { minform } = result;
    const speed = minform === null ? null : gigabytesPerSecond(result.bytes, minform);
    out.push([
      result.family,
      result.name,
      minform === null ? "failed" : milliseconds(minform),
      speed === null ? "" : speed.toPrecision(3),
      speed === null || bandwidth === null
        ? ""
        : `${Math.round((100 * speed) / bandwidth[result.traffic])}% ${result.traffic}`,
      ...CONTENDERS.map((name) => ratio(result[name], minform)),
    ]);
  }
  return out.toString();
}

/** Writes bench.json and bench.csv; returns their paths. */
export function save(folder: string, machine: Machine, results: readonly Result[]): string[] {
  mkdirSync(folder, { recursive: true });
  const columns = ["family", "name", "bytes", "traffic", "minform", ...CONTENDERS] as const;
  const lines = results.map((result) =>
    columns.map((column) => quoted(String(result[column] ?? ""))).join(","),
  );
  const [json, csv] = [join(folder, "bench.json"), join(folder, "bench.csv")];
  writeFileSync(json, `${JSON.stringify({ machine, unit: "ms", results }, null, 2)}\n`);
  writeFileSync(csv, `${[columns.join(","), ...lines].join("\n")}\n`);
  return [json, csv];
}

function gigabytesPerSecond(bytes: number, ms: number): number {
  return bytes / ms / 1e6;
}

function milliseconds(ms: number): string {
  return ms >= 100 ? ms.toFixed(0) : ms >= 0.1 ? ms.toPrecision(3) : ms.toFixed(4);
}

function ratio(theirs: number | null, ours: number | null): string {
  if (theirs === null) return "";
  const factor = ours === null ? "" : ` (${(theirs / ours).toPrecision(3)}x)`;
  return `${milliseconds(theirs)}${factor}`;
}

function quoted(field: string): string {
  return /[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
