import { ArgumentError } from "../../errors.ts";
import { kind } from "../../files/row-check.ts";
import { RowError } from "../../files/row-error.ts";
import { benchmarkOf, unknownBenchmark } from "./benchmarks.ts";
import type { EvalDataset } from "./dataset.ts";
import type { GeneratedSample } from "./generator.ts";
import type { EvalProblem } from "./problem.ts";

/** @internal A problem, and the dataset it is of. */
export interface Joined {
  readonly dataset: EvalDataset;
  readonly problem: EvalProblem;
}

/** @internal Finds the problem of a sample. */
export interface Join {
  /** All datasets; where samples bring their references, those of the samples so far. */
  readonly datasets: readonly EvalDataset[];
  /** @throws RowError when no problem, more than one, or another one fits */
  find(sample: GeneratedSample): Joined;
}

// What tells the problem, the surest first.
const KEYS = ["id", "index", "question"] as const;

function keyOf(what: EvalProblem | GeneratedSample, key: (typeof KEYS)[number]): string | undefined {
  const value = what[key];
  return value === undefined ? undefined : `${key} ${key === "question" ? plain(String(value)) : value}`;
}

// Blanks may change on the way through a model's template, and Qwen's evaluation adds a hint to questions that are
// answered with one of two words.
function plain(question: string): string {
  const text = question.replace(/\s+/g, " ").trim();
  return text.replace(/ \((True or False|Yes or No)\)$/, "");
}

function checked(joined: Joined, { question }: GeneratedSample): Joined {
  const wanted = plain(joined.problem.question);
  const got = question === undefined ? wanted : plain(question);
  if (got !== wanted)
    throw new RowError(`question: expected that of ${nameOf(joined)}, ${kind(wanted)}, got ${kind(got)}`);
  return joined;
}

function nameOf({ dataset, problem }: Joined): string {
  return `${dataset.name} ${problem.id}`;
}

/**
 * @internal Joins samples with the problems of datasets.
 *
 * @throws {@link ArgumentError} `ERR_ARGUMENT_VALUE` for two datasets of one name
 */
export function joinDatasets(datasets: readonly EvalDataset[]): Join {
  const names = datasets.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined)
    throw new ArgumentError("ERR_ARGUMENT_VALUE", `datasets: expected different names, got ${twice} twice`);
  const index = new Map<string, Joined[]>();
  for (const dataset of datasets)
    for (const problem of dataset.problems)
      for (const key of KEYS) {
        const value = keyOf(problem, key)!;
        index.set(value, [...(index.get(value) ?? []), { dataset, problem }]);
      }
  return {
    datasets,
    find(sample) {
      const { dataset: name } = sample;
      if (name !== undefined && !names.includes(name))
        throw new RowError(`dataset: expected ${names.join(" or ")}, got ${name}`);
      const keys = KEYS.map((key) => keyOf(sample, key)).filter((value) => value !== undefined);
      for (const value of keys) {
        const found = (index.get(value) ?? []).filter(
          ({ dataset }) => name === undefined || dataset.name === name,
        );
        if (found.length === 1) return checked(found[0]!, sample);
        if (found.length > 1)
          throw new RowError(`${kind(value)}: expected one problem, got ${found.map(nameOf).join(", ")}`);
      }
      if (keys.length === 0) throw new RowError("expected id, idx or question, got none of them");
      throw new RowError(`no problem has ${keys.map(kind).join(" or ")}`);
    },
  };
}

/** @internal Takes the problems from the samples: each brings the reference of its problem. */
export function joinReferences(): Join {
  const sets = new Map<string, { dataset: EvalDataset; problems: EvalProblem[] }>();
  const index = new Map<string, Joined>();
  const open = (name: string) => {
    const benchmark = benchmarkOf(name);
    const problems: EvalProblem[] = [];
    const { units } = benchmark ?? unknownBenchmark;
    const set = {
      problems,
      dataset: { name, title: benchmark?.title ?? name, source: "the generations", units, problems },
    };
    sets.set(name, set);
    return set;
  };
  return {
    get datasets() {
      return [...sets.values()].map(({ dataset }) => dataset);
    },
    find(sample) {
      const {
        dataset: name = "generations",
        id,
        index: place,
        question = "",
        reference,
        types = {},
      } = sample;
      if (reference === undefined)
        throw new RowError(
          "reference: expected the right answer beside the response, or a dataset, got neither",
        );
      const key = KEYS.map((one) => keyOf(sample, one)).find((value) => value !== undefined);
      if (key === undefined) throw new RowError("expected id, idx or question, got none of them");
      const known = index.get(`${name} ${key}`);
      if (known === undefined) {
        const { dataset, problems } = sets.get(name) ?? open(name);
        const number = place ?? problems.length;
        const problem = { id: id ?? String(number), index: number, question, reference, types };
        problems.push(problem);
        index.set(`${name} ${key}`, { dataset, problem });
        return { dataset, problem };
      }
      const wanted = known.problem.reference;
      if (wanted !== reference)
        throw new RowError(
          `reference: expected ${kind(wanted)} as in the samples of ${nameOf(known)} before, got ${kind(reference)}`,
        );
      return checked(known, { ...sample, question });
    },
  };
}
