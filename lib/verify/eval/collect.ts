import { RowError } from "../../files/row-error.ts";
import type { BadSample, GeneratedSample } from "./generator.ts";
import type { EvalGrader, GradeItem } from "./grader.ts";
import type { Join } from "./join.ts";
import type { EvalProblem } from "./problem.ts";
import { cutResponse } from "./prompts.ts";
import type { SampleResult, SurplusSample } from "./results.ts";

/** @internal How samples become results. */
export interface CollectOptions {
  readonly grader: EvalGrader;
  readonly stop: readonly string[];
  readonly keepResponses: boolean;
  readonly signal: AbortSignal | undefined;
}

/** @internal What there is of one problem. */
export interface Collected {
  readonly samples: SampleResult[];
  /** Samples whose number was taken. */
  readonly surplus: SurplusSample[];
}

interface Pending extends GradeItem {
  readonly to: SampleResult[];
  readonly about: Pick<SampleResult, "sample" | "truncated" | "place">;
}

/** @internal Joins samples with their problems and has them graded, some at once. */
export class Collector {
  readonly #join: Join;
  readonly #options: CollectOptions;
  readonly #numbers = new Map<EvalProblem, Set<number>>();
  #pending: Pending[] = [];
  readonly problems = new Map<EvalProblem, Collected>();
  readonly bad: BadSample[] = [];
  graded = 0;

  constructor(join: Join, options: CollectOptions) {
    this.#join = join;
    this.#options = options;
  }

  /** Takes a sample; gives the number of those that are not graded yet. */
  add(sample: GeneratedSample | BadSample): number {
    try {
      if ("message" in sample) this.bad.push(sample);
      else this.#queue(sample);
    } catch (error) {
      if (!(error instanceof RowError)) throw error;
      const { place = "a sample" } = sample;
      this.bad.push({ place, message: error.message });
    }
    return this.#pending.length;
  }

  #queue(sample: GeneratedSample): void {
    const { dataset, problem } = this.#join.find(sample);
    const { truncated = false, place } = sample;
    const numbers = this.#numbers.get(problem) ?? new Set();
    this.#numbers.set(problem, numbers);
    const collected = this.problems.get(problem) ?? { samples: [], surplus: [] };
    this.problems.set(problem, collected);
    const number = sample.sample ?? Math.max(-1, ...numbers) + 1;
    const from = place === undefined ? {} : { place };
    if (numbers.has(number)) {
      collected.surplus.push({ id: problem.id, sample: number, ...from });
      return;
    }
    numbers.add(number);
    this.#pending.push({
      response: cutResponse(sample.response, this.#options.stop),
      reference: problem.reference,
      units: dataset.units,
      to: collected.samples,
      about: { sample: number, truncated, ...from },
    });
  }

  /** Grades what was taken. */
  async grade(): Promise<void> {
    const { grader, keepResponses, signal } = this.#options;
    const items = this.#pending;
    this.#pending = [];
    if (items.length === 0) return;
    const grades = await grader.grade(items, signal === undefined ? {} : { signal });
    if (grades.length !== items.length)
      throw new Error(`grader ${grader.name}: expected ${items.length} verdicts, got ${grades.length}`);
    items.forEach(({ to, about, response }, i) => {
      to.push({ ...about, ...grades[i]!, empty: response === "", ...(keepResponses ? { response } : {}) });
    });
    this.graded += items.length;
  }
}
