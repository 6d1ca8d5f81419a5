/** Where a benchmark keeps the answer of a problem; of several, the first that a row has. */
export type GoldRule =
  /** The column is the answer. */
  | {
      /** Tells the rule. */
      readonly kind: "column";
      /** Name of the column that holds the answer, in lower case; rows may spell it in any case. */
      readonly key: string;
    }
  /** The last complete `\boxed{}` of a worked solution is the answer. */
  | {
      /** Tells the rule. */
      readonly kind: "boxed";
      /** Name of the column that holds the solution, in lower case; rows may spell it in any case. */
      readonly key: string;
    }
  /** A list of answers, each perhaps between dollar signs. */
  | {
      /** Tells the rule. */
      readonly kind: "list";
      /** Name of the column that holds the list, in lower case; rows may spell it in any case. */
      readonly key: string;
    };

/** A benchmark with its conventions. */
export interface Benchmark {
  /** As peers' tools call it, and as `--dataset` takes it. */
  readonly name: string;
  /** For tables. */
  readonly title: string;
  /** Problems of the published set. */
  readonly size: number;
  /** Where the reference answer is, the first that a row has. */
  readonly gold: readonly GoldRule[];
  /** Whether units are part of an answer, where a grader can drop them. */
  readonly units: "kept" | "dropped";
  /** What names of files and repositories call it. */
  readonly pattern: RegExp;
}

const answer: GoldRule = { kind: "column", key: "answer" };
const boxed: GoldRule = { kind: "boxed", key: "solution" };

type Names = Pick<Benchmark, "name" | "title" | "size" | "pattern">;

/** Answers stand in a column, and perhaps in worked solutions too. */
function withAnswers(names: Names): Benchmark {
  return { ...names, gold: [answer, boxed], units: "dropped" };
}

/** Answers are those of the worked solutions, as Qwen's evaluation takes them. */
function withSolutions(names: Names, units: Benchmark["units"]): Benchmark {
  return { ...names, gold: [boxed, answer], units };
}

/**
 * The five benchmarks of PURE's table, in the order of its evaluation script, with the conventions of Qwen2.5-Math's
 * evaluation: which column is the reference answer, and whether units stay.
 */
export const benchmarks: readonly Benchmark[] = [
  withSolutions({ name: "math500", title: "MATH500", size: 500, pattern: /math[-_ ]?500/i }, "dropped"),
  withSolutions({ name: "minerva_math", title: "Minerva Math", size: 272, pattern: /minerva/i }, "kept"),
  {
    name: "olympiadbench",
    title: "OlympiadBench",
    size: 675,
    gold: [{ kind: "list", key: "final_answer" }, answer],
    units: "dropped",
    pattern: /olympiad[-_ ]?bench/i,
  },
  withAnswers({ name: "aime24", title: "AIME24", size: 30, pattern: /aime[-_ ]?(20)?24/i }),
  withAnswers({ name: "amc23", title: "AMC23", size: 40, pattern: /amc[-_ ]?(20)?23/i }),
];

/** The benchmark of a name, as {@link benchmarks} or as a file spells it: `MATH-500`, `aime_2024`. */
export function benchmarkOf(name: string): Benchmark | undefined {
  const whole = (pattern: RegExp) => pattern.exec(name)?.[0] === name;
  return (
    benchmarks.find((benchmark) => benchmark.name === name) ??
    benchmarks.find(({ pattern }) => whole(pattern))
  );
}

/** @internal The benchmark that a path or a hub id speaks of, the last part that names one first. */
export function benchmarkOfPath(path: string): Benchmark | undefined {
  for (const part of path.split(/[/\\#]/).reverse()) {
    const named = benchmarks.filter(({ pattern }) => pattern.test(part));
    if (named.length === 1) return named[0];
  }
  return undefined;
}

/** @internal Any set of which nothing is known but its rows. */
export const unknownBenchmark: Pick<Benchmark, "gold" | "units"> = {
  gold: [{ kind: "list", key: "final_answer" }, answer, boxed],
  units: "dropped",
};
