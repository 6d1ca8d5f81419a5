import { ArgumentError } from "../../errors.ts";
import type { Collected } from "./collect.ts";
import type { EvalDataset } from "./dataset.ts";
import { estimate, passAtK } from "./estimate.ts";
import type { VerdictStatus } from "../types.ts";
import type { EvalGrader } from "./grader.ts";
import type { EvalProblem } from "./problem.ts";
import type { DatasetResult, EstimateAt, ProblemResult, SampleCounts, TypeResult } from "./results.ts";
import { type VoteResult, votes } from "./votes.ts";

/** @internal How a dataset is summed up; see {@link EvaluateOptions}. */
export interface SummaryOptions {
  readonly grader: EvalGrader;
  readonly samples: number | undefined;
  readonly k: readonly number[] | undefined;
  readonly missing: "wrong" | "skip";
}

/** @internal A problem's row with its votes, one per k. */
interface Voted extends ProblemResult {
  readonly votes: readonly (VoteResult | undefined)[];
}

/** @internal The numbers of one dataset. */
export async function summarizeDataset(
  dataset: EvalDataset,
  collected: ReadonlyMap<EvalProblem, Collected>,
  { grader, samples: wanted, k, missing }: SummaryOptions,
): Promise<DatasetResult> {
  const of = (problem: EvalProblem): Collected => collected.get(problem) ?? { samples: [], surplus: [] };
  const n = wanted ?? usual(dataset.problems.map((problem) => of(problem).samples.length));
  const ks = k ?? powers(n);
  const past = ks.find((one) => one > n);
  if (past !== undefined) {
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      `k: expected at most the ${n} samples per problem of ${dataset.name}, got ${past}`,
    );
  }
  const several = ks.filter((one) => one > 1);
  const all: Voted[] = [];
  for (let i = 0; i < dataset.problems.length; i += AT_ONCE) {
    const some = dataset.problems.slice(i, i + AT_ONCE).map(async (problem): Promise<Voted> => {
      const { id, question, reference, types } = problem;
      const samples = ordered(of(problem)).slice(0, n);
      const [vote, ...rest] = await votes(samples, [n, ...several], grader, dataset.units);
      const right = samples.filter(({ status }) => status === "equal").length;
      const absent = n - samples.length;
      const about = { id, question, reference, types, samples, missing: absent, right };
      return { ...about, ...(vote && n > 1 ? { vote } : {}), votes: rest };
    });
    all.push(...(await Promise.all(some)));
  }
  const among = (least: number) =>
    missing === "wrong" ? all : all.filter(({ samples }) => samples.length >= least);
  const pass = (problems: readonly Voted[], one: number) =>
    estimate(
      problems.map(({ samples, right }) => passAtK(missing === "wrong" ? n : samples.length, right, one)),
      one === n,
    );
  const at = (list: readonly number[], make: (one: number, i: number) => EstimateAt | undefined) =>
    list.map(make).filter((found) => found !== undefined);
  return {
    name: dataset.name,
    title: dataset.title,
    source: dataset.source,
    ...(dataset.size === undefined ? {} : { size: dataset.size }),
    samples: n,
    pass: at(ks, (one) => nonEmpty(among(one), (problems) => ({ k: one, ...pass(problems, one) }))),
    majority: at(several, (one, i) =>
      nonEmpty(among(one), (problems) => ({
        k: one,
        ...estimate(
          problems.map((problem) => (problem.votes[i]?.right ? 1 : 0)),
          true,
        ),
      })),
    ),
    types: byType(among(1), (problems) => pass(problems, 1)),
    counts: count(all),
    surplus: dataset.problems.flatMap((problem) => [
      ...of(problem).surplus,
      ...ordered(of(problem))
        .slice(n)
        .map(({ sample, place }) => ({ id: problem.id, sample, ...(place === undefined ? {} : { place }) })),
    ]),
    problems: all.map(({ votes: _, ...problem }) => problem),
  };
}

// Problems whose votes are counted at once.
const AT_ONCE = 32;

function ordered({ samples }: Collected): Collected["samples"] {
  return samples.toSorted((a, b) => a.sample - b.sample);
}

function nonEmpty<T, R>(list: readonly T[], make: (list: readonly T[]) => R): R | undefined {
  return list.length === 0 ? undefined : make(list);
}

// The number of samples that most problems have, problems without any aside; of equally frequent ones the largest.
function usual(counts: readonly number[]): number {
  const found = new Map<number, number>();
  for (const count of counts) if (count > 0) found.set(count, (found.get(count) ?? 0) + 1);
  return [...found].sort(([a, x], [b, y]) => y - x || b - a)[0]?.[0] ?? 1;
}

function powers(n: number): number[] {
  const out: number[] = [];
  for (let k = 1; k < n; k *= 2) out.push(k);
  return [...out, n];
}

function byType(
  problems: readonly Voted[],
  pass: (problems: readonly Voted[]) => TypeResult["pass"],
): TypeResult[] {
  const keys = new Set(problems.flatMap(({ types }) => Object.keys(types)));
  return [...keys].flatMap((key) => {
    const groups = new Map<string, Voted[]>();
    for (const problem of problems) {
      const value = problem.types[key];
      if (value !== undefined) groups.set(value, [...(groups.get(value) ?? []), problem]);
    }
    if (groups.size < 2) return [];
    return [...groups]
      .map(([value, members]) => ({ key, value, pass: pass(members) }))
      .sort((a, b) => a.value.localeCompare(b.value, "en", { numeric: true }));
  });
}

function count(problems: readonly ProblemResult[]): SampleCounts {
  const samples = problems.flatMap((problem) => problem.samples);
  const of = (status: VerdictStatus) => samples.filter((sample) => sample.status === status).length;
  return {
    graded: samples.length,
    missing: problems.reduce((sum, problem) => sum + problem.missing, 0),
    equal: of("equal"),
    different: of("different"),
    noAnswer: of("noAnswer"),
    unparsed: of("unparsed"),
    timeout: of("timeout"),
    badReference: of("badReference"),
    empty: samples.filter(({ empty }) => empty).length,
    truncated: samples.filter(({ truncated }) => truncated).length,
  };
}
