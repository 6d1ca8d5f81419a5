import { InputError } from "../../errors.ts";
import { assertCount, assertOneOf } from "../../validate.ts";
import { Collector } from "./collect.ts";
import type { EvalDataset } from "./dataset.ts";
import { average } from "./estimate.ts";
import type { Generator } from "./generator.ts";
import type { EvalGrader } from "./grader.ts";
import { joinDatasets, joinReferences } from "./join.ts";
import { buildPrompts, type PromptTemplate, type Sampling, sampling as settings } from "./prompts.ts";
import type { DatasetResult, EstimateAt, EvalResults } from "./results.ts";
import { summarizeDataset } from "./summary.ts";

/** How far an evaluation is. */
export interface EvalProgress {
  /** Samples graded. */
  readonly graded: number;
}

/** Options of {@link evaluate}. */
export interface EvaluateOptions {
  /** Decides what is right. */
  readonly grader: EvalGrader;
  /** Problems with references; default: the samples bring their own. */
  readonly datasets?: readonly EvalDataset[];
  /** Samples per problem; default: as many as most problems of a dataset have. Fewer are missing, more are surplus. */
  readonly samples?: number;
  /** For pass@k and majority@k; default: the powers of 2 up to the number of samples, and that number. */
  readonly k?: readonly number[];
  /** Whether a missing sample counts as wrong (default), or is left out: then only what is there is evaluated. */
  readonly missing?: "wrong" | "skip";
  /** For generators that ask a model; default: PURE's. */
  readonly template?: PromptTemplate | ((question: string) => string);
  /** For generators that ask a model; default: greedy. Its `stop` cuts responses from files too. */
  readonly sampling?: Sampling;
  /** Keep the responses in the results, for a report. */
  readonly keepResponses?: boolean;
  /** Ends the evaluation. */
  readonly signal?: AbortSignal;
  /** Called after each batch of verdicts. */
  readonly onProgress?: (progress: EvalProgress) => void;
}

// Samples that go to the grader at once.
const WINDOW = 256;

/**
 * Grades what a generator gives and makes the numbers of a benchmark table: pass@1, pass@k, majority@k, accuracy by type,
 * with confidence intervals and counts of everything that is not a right answer.
 *
 * Samples that belong to no problem, come twice or cannot be read are listed in the results, as are problems without
 * their samples; nothing is left out silently.
 *
 * @throws {@link index.InputError | InputError} `ERR_INPUT` when no sample belongs to a problem
 * @throws {@link index.ArgumentError | ArgumentError} `ERR_ARGUMENT_VALUE` for a k above the number of samples, or two datasets of one name
 */
export async function evaluate(generator: Generator, options: EvaluateOptions): Promise<EvalResults> {
  const { grader, datasets, samples, k, missing = "wrong", signal, sampling = settings.greedy } = options;
  assertOneOf(missing, "missing", ["wrong", "skip"]);
  if (samples !== undefined) assertCount(samples, "samples", 1);
  for (const [i, one] of (k ?? []).entries()) assertCount(one, `k[${i}]`, 1);
  const join = datasets === undefined ? joinReferences() : joinDatasets(datasets);
  const collector = new Collector(join, {
    grader,
    stop: sampling.stop,
    keepResponses: options.keepResponses === true,
    signal,
  });
  const grade = async () => {
    await collector.grade();
    options.onProgress?.({ graded: collector.graded });
  };
  const prompts = (datasets ?? []).flatMap((dataset) => buildPrompts(dataset, options.template));
  for await (const sample of generator.generate({ prompts, sampling, ...(signal && { signal }) })) {
    signal?.throwIfAborted();
    if (collector.add(sample) >= WINDOW) await grade();
  }
  await grade();
  const { bad, problems } = collector;
  if (problems.size === 0) {
    const why = bad[0] === undefined ? "it gave nothing" : `${bad[0].place}: ${bad[0].message}`;
    throw new InputError("ERR_INPUT", `${generator.name}: no sample belongs to a problem: ${why}`);
  }
  const results: DatasetResult[] = [];
  for (const dataset of join.datasets)
    results.push(await summarizeDataset(dataset, problems, { grader, samples, k, missing }));
  return {
    generations: generator.name,
    grader: grader.name,
    missing,
    datasets: results,
    ...(results.length > 1
      ? { average: { pass: averages(results, "pass"), majority: averages(results, "majority") } }
      : {}),
    bad,
  };
}

// For the k that all datasets have.
function averages(results: readonly DatasetResult[], kind: "pass" | "majority"): EstimateAt[] {
  return results[0]![kind].flatMap(({ k }) => {
    const found = results.map((result) => result[kind].find((one) => one.k === k));
    return found.every((one) => one !== undefined) ? [{ k, ...average(found) }] : [];
  });
}
