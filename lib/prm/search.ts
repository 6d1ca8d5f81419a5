import { ArgumentError } from "../errors.ts";
import { assertCount, assertNumber } from "../validate.ts";
import { aggregate, assertAggregator } from "./aggregate.ts";
import type { Prm } from "./prm.ts";

/** A partial solution during search. */
export interface Beam {
  /** Steps so far, with whatever separator the generator keeps in them. */
  readonly steps: readonly string[];
  /** Aggregated score of the steps, as the scorer gave it; NaN before the first step. */
  readonly score: number;
  /** True when the generator says that nothing follows. */
  readonly done: boolean;
  /** Which tree it belongs to (diverse search), 0 otherwise. */
  readonly tree: number;
}

/** A next step. */
export interface NextStep {
  /** Its text. */
  readonly step: string;
  /** True when the solution is complete (EOS, or an answer was given). */
  readonly done: boolean;
}

/** What proposes steps: a policy, or a list of recorded ones. */
export interface StepGenerator {
  /** `count` continuations of each partial solution, in the order of `beams`. Fewer, even none, may come back. */
  next(
    question: string,
    beams: readonly Beam[],
    count: number,
    options: { signal?: AbortSignal },
  ): Promise<readonly (readonly NextStep[])[]>;
}

/** Scores partial solutions: one number each, larger is better. */
export type ScoreBeams = (
  question: string,
  solutions: readonly (readonly string[])[],
  options: { signal?: AbortSignal },
) => Promise<ArrayLike<number>>;

/** Options of {@link beamSearch} and {@link diverseSearch}. */
export interface SearchOptions {
  /** Number of candidates per iteration, N. */
  n: number;
  /** Continuations per kept beam; `n / width` beams are kept. Divides `n`. */
  width: number;
  /** Most steps of a solution; default 40. */
  maxSteps?: number;
  /** Ends the search. */
  signal?: AbortSignal;
  /** Called with the kept beams after each iteration. */
  onIteration?: (iteration: number, beams: readonly Beam[]) => void;
}

/** What a search found. */
export interface SearchResult {
  /** Finished solutions, best first; when none finished, the beams at the limit. */
  readonly solutions: readonly Beam[];
  /** Iterations that ran. */
  readonly iterations: number;
}

/**
 * Step-level beam search: each iteration extends the `n / width` kept beams by `width` steps each, drops duplicates,
 * scores all, and keeps the best; finished solutions leave the beam. Of equal scores the earlier candidate is kept.
 *
 * @throws {@link ArgumentError} `ERR_ARGUMENT_VALUE` when `width` does not divide `n`
 */
export function beamSearch(
  question: string,
  generator: StepGenerator,
  score: ScoreBeams,
  options: SearchOptions,
): Promise<SearchResult> {
  return search(question, generator, score, options, (beams, keep) =>
    ranked(beams.filter((beam) => !beam.done)).slice(0, keep),
  );
}

/**
 * Diverse verifier tree search (DVTS): `n / width` independent trees, each extended by `width` steps and continued with
 * its own best child, so that no tree can crowd out the others. A tree ends when its best child is finished.
 *
 * @throws {@link ArgumentError} `ERR_ARGUMENT_VALUE` when `width` does not divide `n`
 */
export function diverseSearch(
  question: string,
  generator: StepGenerator,
  score: ScoreBeams,
  options: SearchOptions,
): Promise<SearchResult> {
  return search(
    question,
    generator,
    score,
    options,
    (beams) => {
      const trees = [...new Set(beams.map((beam) => beam.tree))];
      return trees.map((tree) => ranked(beams.filter((beam) => beam.tree === tree))[0]!);
    },
    true,
  );
}

/**
 * A scorer for the searches out of a PRM: all partial solutions of an iteration in one call, each aggregated.
 *
 * @param how - default: the convention's own aggregator
 * @throws {@link PrmError} `ERR_SCORE_RANGE` when the aggregator does not fit the PRM's range
 */
export function scoreWith(
  prm: Pick<Prm, "score" | "convention">,
  how: string = prm.convention.aggregate,
): ScoreBeams {
  assertAggregator(how, prm.convention.range);
  return async (question, solutions, options) => {
    const scores = await prm.score(
      solutions.map((steps) => ({ question, steps: steps.map((step) => step.trim()) })),
      options,
    );
    return scores.map((steps) => aggregate(steps, how));
  };
}

type Keep = (beams: readonly Beam[], keep: number) => readonly Beam[];

async function search(
  question: string,
  generator: StepGenerator,
  score: ScoreBeams,
  options: SearchOptions,
  choose: Keep,
  trees = false,
): Promise<SearchResult> {
  const { n, width, maxSteps = 40, signal, onIteration } = options;
  assertCount(n, "n");
  assertNumber(width, "width", { low: 1 });
  assertCount(maxSteps, "maxSteps");
  if (n < 1 || n % width !== 0)
    throw new ArgumentError("ERR_ARGUMENT_VALUE", `width: expected a divisor of n = ${n}, got ${width}`);
  const call = signal === undefined ? {} : { signal };
  const keep = n / width;
  const root: Beam = { steps: [], score: Number.NaN, done: false, tree: 0 };
  let open: readonly Beam[] = Array.from({ length: keep }, (_, tree) => ({
    ...root,
    tree: trees ? tree : 0,
  }));
  const finished: Beam[] = [];
  let iterations = 0;
  while (open.length > 0 && iterations < maxSteps) {
    signal?.throwIfAborted();
    // Before the first step all beams are the same one: beam search asks once for n steps instead.
    const asked = !trees && iterations === 0 ? [open[0]!] : open;
    const proposals = await generator.next(question, asked, !trees && iterations === 0 ? n : width, call);
    const children = distinct(
      proposals.flatMap((steps, i) =>
        steps.map(({ step, done }) => ({ ...asked[i]!, steps: [...asked[i]!.steps, step], done })),
      ),
    );
    if (children.length === 0) break;
    const scores = await score(
      question,
      children.map((beam) => beam.steps),
      call,
    );
    if (scores.length !== children.length)
      throw new ArgumentError("ERR_SHAPE", `score: expected ${children.length} scores, got ${scores.length}`);
    const scored = children.map((beam, i) => ({ ...beam, score: scores[i]! }));
    iterations++;
    const chosen = choose(scored, keep);
    finished.push(...(trees ? chosen : scored).filter((beam) => beam.done));
    open = chosen.filter((beam) => !beam.done);
    onIteration?.(iterations, chosen);
  }
  return { solutions: ranked(finished.length > 0 ? finished : open), iterations };
}

function ranked(beams: readonly Beam[]): Beam[] {
  const value = (beam: Beam): number => (Number.isNaN(beam.score) ? -Infinity : beam.score);
  return [...beams].sort((a, b) => (value(a) === value(b) ? 0 : value(b) - value(a)));
}

// The same text reached twice in one tree is one candidate.
function distinct(beams: readonly Beam[]): Beam[] {
  const seen = new Set<string>();
  return beams.filter((beam) => {
    const key = JSON.stringify([beam.tree, beam.steps]);
    return !seen.has(key) && seen.add(key);
  });
}
