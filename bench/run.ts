/**
 * `npm run bench -- [--family NAME] [--quick] [--no-torch] [--threads N]`
 *
 * Times every bench/<family>.bench.ts in interleaved rounds and prints medians: the library, the same job in plain
 * JavaScript and, when python3 has torch, PyTorch eager and torch.compile, with the same number of threads. Numbers in
 * brackets are ratios to the library's time. The results go to out/bench.json and out/bench.csv.
 *
 * To add a family, write bench/<family>.bench.ts with `export default (): BenchCase[] => [...]` (bench/case.ts has the
 * shape):
 *
 *     { family, name, bytes, run(), javascript?(), torch?: "key of CASES in bench/torch/<family>.py", traffic? }
 *
 * and, for PyTorch, bench/torch/<family>.py with `CASES = {key: setup}`, where `setup()` prepares the inputs and returns
 * `{"eager": function}` or `{"eager": function, "compiled": function}`; a function does the job once. All sizes and
 * dtypes must be the same on both sides. A slow or missing contender never fails the run.
 */
import { readdirSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { capabilities, setNumThreads } from "../lib/index.ts";
import { type Bandwidth, measureBandwidth } from "./bandwidth.ts";
import type { BenchCase, BenchCases } from "./case.ts";
import { type Contender, type Effort, interleaved, local, type Summary } from "./measure.ts";
import { type Machine, type Result, save, table, type Times } from "./report.ts";
import { Torch, type TorchMode } from "./torch.ts";

const root = process.cwd();
// The compiled bench lies in build/bench, the addon where the build puts it.
process.env.MINFORM_ADDON_PATH ??= join(root, "build", "Release", "minform.node");

const { values: flags } = parseArgs({
  options: {
    family: { type: "string", multiple: true },
    quick: { type: "boolean", default: false },
    "no-torch": { type: "boolean", default: false },
    threads: { type: "string" },
  },
});
const effort: Effort = flags.quick ? { rounds: 5, budgetMs: 500 } : { rounds: 31, budgetMs: 6000 };

const suffix = ".bench.js";
const known = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(suffix))
  .map((file) => file.slice(0, -suffix.length));
const families = flags.family ?? known;
for (const family of families) {
  if (!known.includes(family)) {
    console.error(`--family: expected one of ${known.join(", ")}, got ${family}`);
    process.exit(2);
  }
}

if (flags.threads !== undefined) setNumThreads(Number(flags.threads));
const { isaInUse: isa, threads } = capabilities();
const load = loadavg()[0]!;
const before = await measureBandwidth(root, isa, threads);
const torch = flags["no-torch"]
  ? undefined
  : await Torch.start(join(root, "bench", "torch", "serve.py"), threads);
const results: Result[] = [];
for (const family of families) {
  const { default: cases } = (await import(`./${family}${suffix}`)) as { default: BenchCases };
  for (const benchCase of typeof cases === "function" ? await cases() : cases) {
    process.stderr.write(`${family}: ${benchCase.name}\n`);
    results.push(await measure(benchCase));
  }
  await torch?.forget();
}
torch?.stop();

// Measured twice: other work on the machine lowers it, and the higher number is nearer the truth.
const bandwidth = fastest(before, await measureBandwidth(root, isa, threads));
const machine: Machine = {
  processor: cpus()[0]?.model ?? "unknown",
  threads,
  isa,
  node: process.versions.node,
  torch: torch?.version ?? null,
  bandwidth,
  load,
};
console.log(
  [
    `${machine.processor}, ${threads} threads, ${isa}, Node ${machine.node}, torch ${machine.torch ?? "not used"}`,
    bandwidth === null
      ? "memory bandwidth: not measured (needs CMake and a C++ compiler)"
      : `memory bandwidth (native kernels, ${threads} threads): read ${bandwidth.read.toFixed(1)} GB/s, copy ${bandwidth.copy.toFixed(1)} GB/s`,
    ...(load > 0.5
      ? [`other work is running (load ${load.toFixed(1)}): times are longer and less certain`]
      : []),
  ].join("\n"),
);
console.log(table(results, bandwidth));
for (const { name, notes } of results) for (const note of notes) console.log(`${name}: ${note}`);
console.log(`written: ${save(join(root, "out"), machine, results).join(", ")}`);

function fastest(a: Bandwidth | undefined, b: Bandwidth | undefined): Bandwidth | null {
  if (a === undefined || b === undefined) return a ?? b ?? null;
  return { read: Math.max(a.read, b.read), copy: Math.max(a.copy, b.copy) };
}

async function measure(benchCase: BenchCase): Promise<Result> {
  const { family, name, bytes, traffic = "read" } = benchCase;
  const notes: string[] = [...(benchCase.notes ?? [])];
  const guarded = (contender: Contender | undefined, who: string): Contender => {
    return async () => {
      try {
        return await contender?.();
      } catch (error) {
        notes.push(`${who}: ${(error as Error).message}`);
        return undefined;
      }
    };
  };
  const javascript = benchCase.javascript?.bind(benchCase);
  const python = (mode: TorchMode) =>
    benchCase.torch === undefined
      ? undefined
      : torch?.contender(family, benchCase.torch, mode, (reason) => notes.push(reason));
  const found = await interleaved(
    {
      minform: guarded(
        local(() => benchCase.run()),
        "minform",
      ),
      javascript: guarded(javascript && local(javascript), "plain JS"),
      torchEager: guarded(python("eager"), "torch"),
      torchCompiled: guarded(flags.quick ? undefined : python("compiled"), "torch"),
    },
    effort,
  );
  const all = (key: keyof Summary): Times => ({
    minform: found.minform?.[key] ?? null,
    javascript: found.javascript?.[key] ?? null,
    torchEager: found.torchEager?.[key] ?? null,
    torchCompiled: found.torchCompiled?.[key] ?? null,
  });
  return { family, name, bytes, traffic, ...all("median"), fastest: all("fastest"), notes };
}
