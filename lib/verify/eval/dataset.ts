import { existsSync } from "node:fs";
import { basename, extname } from "node:path";
import { InputError } from "../../errors.ts";
import type { HubOptions } from "../../hub/hub.ts";
import { type Benchmark, benchmarkOf, benchmarkOfPath, unknownBenchmark } from "./benchmarks.ts";
import { type EvalProblem, type GoldElements, readProblem } from "./problem.ts";
import { readDataRows, type Row } from "./rows.ts";

/** Problems with reference answers. */
export interface EvalDataset {
  /** A benchmark's name, else the name of the file. */
  readonly name: string;
  /** For tables. */
  readonly title: string;
  /** Path or hub id that it was read from. */
  readonly source: string;
  /** Whether units are part of an answer, where a grader can drop them. */
  readonly units: Benchmark["units"];
  /** Problems of the published set; undefined for other sets. */
  readonly size?: number;
  /** In the order of the file, where no two have the same id or index. */
  readonly problems: readonly EvalProblem[];
}

/** Options of {@link loadDataset}. */
export interface LoadDatasetOptions extends HubOptions {
  /** Whose conventions hold; default: the benchmark that the source's name or the `data_source` of its rows speaks of. */
  readonly benchmark?: string;
  /** Reference of a problem with several answers: all of them as a list (default), or the first. */
  readonly elements?: GoldElements;
}

/**
 * Reads a dataset: JSONL, a JSON array or parquet, with the columns of one of {@link benchmarks} or, for other sets,
 * `question` or `problem`, and `answer`, `final_answer` or a boxed answer in `solution`.
 *
 * @param source - a path; or `owner/name[@revision][#file]` on the hub, where the file is the only one, or the only one
 * for the test split, unless it is named
 * @throws {@link index.InputError | InputError} `ERR_INPUT` for a file that is not there or malformed, naming the file, the row and the keys
 * that were expected; for two rows with one id
 */
export async function loadDataset(source: string, options: LoadDatasetOptions = {}): Promise<EvalDataset> {
  const { benchmark, elements = "all", ...hub } = options;
  const path = await locate(source, hub);
  return toDataset(await readDataRows(path), source, benchmark, elements);
}

const DATA_FILE = /\.(jsonl|json|parquet)$/i;

// A file that is not there is no hub id, though it may look like one.
async function locate(source: string, options: HubOptions): Promise<string> {
  if (existsSync(source)) return source;
  const [name = "", file] = source.split("#", 2);
  const { hubId } = await import("../../hub/hub.ts");
  const id = hubId(name);
  if (id === undefined || (file === undefined && DATA_FILE.test(name)))
    throw new InputError("ERR_INPUT", `${source}: no such file, and no hub id (owner/name[#file])`);
  const { locateDatasetFile } = await import("../../hub/dataset.ts");
  return locateDatasetFile(id, file, options);
}

function toDataset(
  rows: readonly Row[],
  source: string,
  wanted: string | undefined,
  elements: GoldElements,
): EvalDataset {
  const known = wanted === undefined ? detect(source, rows[0]!) : benchmarkOf(wanted);
  const problems = rows.map((row, i) =>
    readProblem(row, i, known ?? unknownBenchmark, elements, `${source}: row ${i + 1}`),
  );
  assertUnique(problems, source);
  const name = known?.name ?? wanted ?? basename(source.replace(/.*#/, ""), extname(source));
  return {
    name,
    title: known?.title ?? name,
    source,
    units: (known ?? unknownBenchmark).units,
    ...(known === undefined ? {} : { size: known.size }),
    problems,
  };
}

function detect(source: string, row: Row): Benchmark | undefined {
  const named = typeof row.data_source === "string" ? benchmarkOfPath(row.data_source) : undefined;
  return named ?? benchmarkOfPath(source);
}

function assertUnique(problems: readonly EvalProblem[], source: string): void {
  for (const key of ["id", "index"] as const) {
    const rows = new Map<string | number, number>();
    problems.forEach((problem, i) => {
      const before = rows.get(problem[key]);
      if (before !== undefined) {
        const shown = key === "id" ? "id" : "idx";
        throw new InputError(
          "ERR_INPUT",
          `${source}: rows ${before + 1} and ${i + 1} have the same ${shown}, ${JSON.stringify(problem[key])}`,
        );
      }
      rows.set(problem[key], i);
    });
  }
}
