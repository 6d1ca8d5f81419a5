import type { EvalPrompt, Sampling } from "./prompts.ts";

/**
 * One response of a model. Which problem it answers is told by `id`, else by `index`, else by `question`; `dataset` is
 * needed where there are several.
 */
export interface GeneratedSample {
  /** Name of the dataset. */
  readonly dataset?: string;
  /** {@link EvalProblem.id} */
  readonly id?: string;
  /** {@link EvalProblem.index} */
  readonly index?: number;
  /** {@link EvalProblem.question}; beside an id or index it must be the problem's. */
  readonly question?: string;
  /** The answer that counts as right, for samples that are evaluated without a dataset. */
  readonly reference?: string;
  /** What accuracy is split by, for samples that are evaluated without a dataset. */
  readonly types?: Readonly<Record<string, string>>;
  /** Number of the sample among those of its problem, from 0; without it, the order of arrival. */
  readonly sample?: number;
  /** What the model wrote; it is cut at the first stop string and trimmed before it is graded. */
  readonly response: string;
  /** The response ended at the token limit. */
  readonly truncated?: boolean;
  /** Where it came from, for messages: file and line. */
  readonly place?: string;
}

/** Something that came in place of a sample and cannot be used. */
export interface BadSample {
  /** File and line. */
  readonly place: string;
  /** What is wrong with it. */
  readonly message: string;
}

/** What a {@link Generator} is asked. */
export interface GenerateRequest {
  /** Empty when there is no dataset. */
  readonly prompts: readonly EvalPrompt[];
  /** How to sample; a source of finished responses has no use for it. */
  readonly sampling: Sampling;
  /** Ends the generation; undefined when nothing is to end it. */
  readonly signal?: AbortSignal;
}

/**
 * A source of responses: a file of them, an engine, a client of a server. Samples come in any order; those that do not
 * come are reported as missing.
 */
export interface Generator {
  /** For reports. */
  readonly name: string;
  /** Samples for the prompts. A {@link BadSample} is reported and stops nothing; a throw ends the evaluation. */
  generate(request: GenerateRequest): AsyncIterable<GeneratedSample | BadSample>;
}
