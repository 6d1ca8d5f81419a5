import { assertCount, assertNumber } from "../../validate.ts";
import type { GenerateRequest, Generator, StepContext, TrainPlugin } from "../rl/types.ts";
import type { Json } from "../run/folder.ts";
import { restoredNumber, restoredState } from "./record.ts";

/** Options of {@link GrowingLength}. */
export interface GrowingLengthOptions {
  /** Longest response at the start, in tokens. */
  readonly start: number;
  /** Tokens by which it grows. Default `start`. */
  readonly by?: number;
  /** Running share of responses as long as the limit above which it grows, in (0, 1]. Default 0.3. */
  readonly share?: number;
  /** Weight of the newest step in the running share, in (0, 1]. Default 0.2. */
  readonly memory?: number;
}

/**
 * A curriculum by length: responses are short at first, and may grow when many of them reach the limit. Where a response
 * ends at its first error, those that reach it were right so far, and nothing is spent on what cannot be learnt yet.
 *
 * The run's `rollout.maxTokens` stays the upper bound. Use `plugin.limit(generator)` as the run's generator and the
 * object itself as a plugin, which keeps it in the checkpoint.
 */
export class GrowingLength implements TrainPlugin {
  readonly name = "growing-length";
  private readonly options: Required<GrowingLengthOptions>;
  private limitTokens: number;
  private reached: number | undefined;

  /** @throws {@link ArgumentError} for options out of range */
  constructor({ start, by = start, share = 0.3, memory = 0.2 }: GrowingLengthOptions) {
    for (const [name, value] of Object.entries({ start, by })) assertCount(value, name, 1);
    assertNumber(share, "share", { low: 0, high: 1, open: true });
    assertNumber(memory, "memory", { low: 0, high: 1, open: true });
    this.options = { start, by, share, memory };
    this.limitTokens = start;
  }

  /** Longest response at present, in tokens. */
  get tokens(): number {
    return this.limitTokens;
  }

  /**
   * A generator whose responses end at the limit at the latest.
   *
   * @param isLimited - whether a request is: evaluations should not be. Default: those that sample, not greedy ones
   */
  limit(
    generator: Generator,
    isLimited: (request: GenerateRequest) => boolean = ({ temperature }) => temperature !== 0,
  ): Generator {
    const limited = (request: GenerateRequest) => ({
      ...request,
      maxTokens: Math.min(request.maxTokens, this.limitTokens),
    });
    return {
      ...generator,
      generate: (request) => generator.generate(isLimited(request) ? limited(request) : request),
    };
  }

  async afterStep({ rollouts: { tokens } }: Pick<StepContext, "rollouts">): Promise<Record<string, number>> {
    // Not only those that the limit cut: to end just before it may be the best that can be done under it.
    const { offsets } = tokens;
    const rows = offsets.length - 1;
    let long = 0;
    for (let row = 0; row < rows; row++) if (offsets[row + 1]! - offsets[row]! >= this.limitTokens) long++;
    const reached = long / Math.max(1, rows);
    const { memory, share, by } = this.options;
    // The first step after a change counts fully: there is nothing yet to be remembered.
    this.reached = this.reached === undefined ? reached : this.reached + memory * (reached - this.reached);
    const metrics = { "curriculum/max_tokens": this.limitTokens, "curriculum/reached": this.reached };
    if (this.reached > share) {
      this.limitTokens += by;
      this.reached = undefined;
    }
    return metrics;
  }

  async save(): Promise<Json> {
    return { kind: this.name, tokens: this.limitTokens, reached: this.reached ?? null };
  }

  /** Goes on from a state. */
  async restore(_folder: string, state: Json): Promise<void> {
    const { tokens, reached } = restoredState(state, this.name);
    this.limitTokens = restoredNumber(tokens, "tokens");
    this.reached = reached === null ? undefined : restoredNumber(reached, "reached");
  }
}
