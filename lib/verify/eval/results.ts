import type { Estimate } from "./estimate.ts";
import type { BadSample } from "./generator.ts";
import type { Verdict, VerdictStatus } from "../types.ts";

/** A graded sample. */
export interface SampleResult extends Verdict {
  /** Its number among the samples of its problem, from 0. */
  readonly sample: number;
  /** There is nothing but blanks before the first stop string. */
  readonly empty: boolean;
  /** It ended at the token limit. */
  readonly truncated: boolean;
  /** As it was graded; with `keepResponses`. */
  readonly response?: string;
  /** Where it came from. */
  readonly place?: string;
}

/** A problem with its samples. */
export interface ProblemResult {
  /** {@link EvalProblem.id} */
  readonly id: string;
  /** {@link EvalProblem.question} */
  readonly question: string;
  /** {@link EvalProblem.reference} */
  readonly reference: string;
  /** {@link EvalProblem.types} */
  readonly types: Readonly<Record<string, string>>;
  /** By number, at most as many as the dataset has per problem. */
  readonly samples: readonly SampleResult[];
  /** Samples that are not there. */
  readonly missing: number;
  /** Right samples. */
  readonly right: number;
  /**
   * The answer that most samples give, of equally many the one given first; undefined when no sample has an answer, or
   * the dataset has one sample per problem.
   */
  readonly vote?: {
    /** The answer as the first sample of the majority gives it. */
    readonly answer: string;
    /** Samples that give it, from 1. */
    readonly count: number;
    /** Whether it equals the reference. */
    readonly right: boolean;
  };
}

/** A sample that is not counted: one of its number was there before, or the problem had all its samples. */
export interface SurplusSample {
  /** {@link EvalProblem.id} */
  readonly id: string;
  /** Its number among the samples of its problem, from 0. */
  readonly sample: number;
  /** Where it came from; undefined when the generator does not say. */
  readonly place?: string;
}

/**
 * Numbers of samples; each graded sample is in exactly one of the {@link VerdictStatus}es.
 *
 * @property equal - samples with a right answer
 * @property different - samples with a wrong answer
 * @property noAnswer - samples without an answer
 * @property unparsed - samples whose answer cannot be read
 * @property timeout - samples that took more work or time than allowed
 * @property badReference - samples whose reference is empty or cannot be read
 */
export interface SampleCounts extends Readonly<Record<VerdictStatus, number>> {
  /** Samples that were graded. */
  readonly graded: number;
  /** Samples that are not there. */
  readonly missing: number;
  /** Samples without text; the verdict on them is `noAnswer`. */
  readonly empty: number;
  /** Samples that ended at the token limit, whatever the verdict. */
  readonly truncated: number;
}

/** Accuracy of the problems of one type. */
export interface TypeResult {
  /** What is told apart: `subject`, `subfield`, `type` or `level`. */
  readonly key: string;
  /** The type, as the problems have it under the key. */
  readonly value: string;
  /** pass@1 of these problems. */
  readonly pass: Estimate;
}

/** An estimate for a number of samples. */
export interface EstimateAt extends Estimate {
  /** Samples per problem that the estimate is for, from 1. */
  readonly k: number;
}

/** What one dataset came to. */
export interface DatasetResult {
  /** {@link EvalDataset.name} */
  readonly name: string;
  /** {@link EvalDataset.title} */
  readonly title: string;
  /** {@link EvalDataset.source}; `the generations` where samples bring their references. */
  readonly source: string;
  /** Problems of the published set; undefined for other sets. */
  readonly size?: number;
  /** n, the samples that each problem should have. */
  readonly samples: number;
  /** Chance that one of k samples is right; k = 1 is the mean over samples. */
  readonly pass: readonly EstimateAt[];
  /** Share of problems whose most frequent answer among the first k samples is right, for k > 1. */
  readonly majority: readonly EstimateAt[];
  /** Keys with one value for all problems are left out. */
  readonly types: readonly TypeResult[];
  /** Samples by what came of them, surplus ones aside. */
  readonly counts: SampleCounts;
  /** Samples that are not counted, by problem. */
  readonly surplus: readonly SurplusSample[];
  /** In the order of the dataset. */
  readonly problems: readonly ProblemResult[];
}

/** What an evaluation came to. */
export interface EvalResults {
  /** Where the samples came from. */
  readonly generations: string;
  /** Rules of the verdicts. */
  readonly grader: string;
  /** Whether missing samples count as wrong or are left out. */
  readonly missing: "wrong" | "skip";
  /** In the order they were given; without any, in that of the samples. */
  readonly datasets: readonly DatasetResult[];
  /** Unweighted means over the datasets, for the k that all have; undefined for one dataset. */
  readonly average?: {
    /** Means of {@link DatasetResult.pass}. */
    readonly pass: readonly EstimateAt[];
    /** Means of {@link DatasetResult.majority}. */
    readonly majority: readonly EstimateAt[];
  };
  /** What came in place of a sample, or belongs to no problem. */
  readonly bad: readonly BadSample[];
}
