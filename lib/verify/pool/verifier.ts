import { availableParallelism } from "node:os";
import { ModelError } from "../../errors.ts";
import { assertCount, assertNumber, assertOneOf } from "../../validate.ts";
import { graderNames } from "../presets/index.ts";
import type { Verdict } from "../types.ts";
import { gradeQuickly } from "./grade.ts";
import type { Pair } from "../presets/types.ts";
import type { GradingOptions } from "./protocol.ts";
import { type Job, Thread } from "./thread.ts";

/** Options of {@link createVerifier}. */
export interface VerifierOptions extends GradingOptions {
  /** Threads; default: one less than the machine runs at once, between 1 and 8. */
  readonly workers?: number;
  /** Megabytes that a thread may use; default 256. */
  readonly memoryLimit?: number;
}

/** How far a batch is. */
export interface VerifyProgress {
  /** Pairs with a verdict. */
  readonly done: number;
  /** Pairs in the batch. */
  readonly total: number;
}

/** What a call of {@link Verifier.verify} may be given. */
export interface BatchOptions {
  /** Ends the batch: its promise is rejected with the signal's reason, the threads are free for the next one. */
  readonly signal?: AbortSignal;
  /** Called while the batch runs. */
  readonly onProgress?: (progress: VerifyProgress) => void;
}

/** Grades batches in threads that can be stopped. */
export interface Verifier {
  /** Verdicts in the order of the pairs, exactly one for each. */
  verify(pairs: readonly Pair[], options?: BatchOptions): Promise<Verdict[]>;
  /** Ends the threads. */
  close(): Promise<void>;
}

/**
 * A verifier for batches of untrusted text. Pairs that need no more than exact fractions are settled in this thread, in
 * slices of a few milliseconds; all others go to worker threads. One that takes longer than the time limit gets status
 * `timeout` and its thread is replaced: neither a verdict nor a crash of one pair touches another.
 *
 * @throws {@link index.ArgumentError | ArgumentError} `ERR_ARGUMENT_VALUE` for options out of range
 */
export function createVerifier(options: VerifierOptions = {}): Verifier {
  const {
    workers = Math.min(8, Math.max(1, availableParallelism() - 1)),
    memoryLimit = 256,
    ...grading
  } = options;
  assertCount(workers, "workers");
  assertNumber(memoryLimit, "memoryLimit", { low: 16 });
  assertNumber(grading.timeLimit ?? 1000, "timeLimit", { low: 0, open: true });
  assertOneOf(grading.grader ?? "default", "grader", graderNames);
  assertOneOf(grading.decimals ?? "exact", "decimals", ["exact", "significant"]);
  assertOneOf(grading.fallback ?? "none", "fallback", ["none", "phrases", "lastNumber"]);
  return new Pool(Math.max(1, workers), memoryLimit, grading);
}

/** Pairs that a thread is given at once, fewer where they are long: texts are copied in one turn of this thread. */
const CHUNK = 16;
const CHUNK_CHARACTERS = 1 << 20;
/** Milliseconds of work in the calling thread before others get their turn. */
const SLICE = 4;
/** Milliseconds that a pair has beyond its own limit before its thread is ended. */
const GRACE = 100;

const DETAILS = {
  timeout: "too much time",
  memory: "too much memory",
  failure: "its thread failed",
} as const;

interface Waiting {
  /** @param answered - pairs of the job that have a verdict */
  resolve(answered: number): void;
  reject(error: unknown): void;
}

class Pool implements Verifier {
  readonly #limit: number;
  readonly #queue: Job[] = [];
  readonly #waiting = new Map<Job, Waiting>();
  readonly #busy = new Map<Job, Thread>();
  readonly #idle: Thread[] = [];
  #closed = false;

  constructor(
    private readonly workers: number,
    private readonly memoryLimit: number,
    private readonly options: GradingOptions,
  ) {
    this.#limit = (options.timeLimit ?? 1000) + GRACE;
  }

  async verify(pairs: readonly Pair[], { signal, onProgress }: BatchOptions = {}): Promise<Verdict[]> {
    signal?.throwIfAborted();
    if (this.#closed) throw new ModelError("ERR_CLOSED", "the verifier was closed");
    const verdicts = new Array<Verdict | undefined>(pairs.length);
    let done = 0;
    const settle = (index: number, verdict: Verdict): void => {
      if (verdicts[index] === undefined) done++;
      verdicts[index] = verdict;
    };
    const report = (): void => onProgress?.({ done, total: pairs.length });
    const jobs: Promise<void>[] = [];
    const mine = new Set<Job>();
    const abort = (): void => this.#drop(mine);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      let slow: number[] = [];
      let characters = 0;
      const send = (): void => {
        const indices = slow;
        slow = [];
        characters = 0;
        jobs.push(
          this.#settleAll(pairs, indices, mine, (index, verdict) => {
            settle(index, verdict);
            report();
          }),
        );
      };
      let sliceEnd = performance.now() + SLICE;
      for (const [index, pair] of pairs.entries()) {
        const quick = gradeQuickly(pair, this.options);
        if (quick !== undefined) settle(index, quick);
        else {
          characters += lengthOf(pair);
          if (slow.push(index) === CHUNK || characters >= CHUNK_CHARACTERS) send();
        }
        if (performance.now() < sliceEnd) continue;
        report();
        await new Promise((resolve) => setImmediate(resolve));
        signal?.throwIfAborted();
        sliceEnd = performance.now() + SLICE;
      }
      if (slow.length > 0) send();
      await Promise.all(jobs);
      signal?.throwIfAborted();
      report();
      return verdicts as Verdict[];
    } finally {
      signal?.removeEventListener("abort", abort);
      if (signal?.aborted) await Promise.allSettled(jobs);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const job of this.#queue.splice(0)) this.#waiting.get(job)?.resolve(0);
    await Promise.all([...this.#idle, ...this.#busy.values()].map((thread) => thread.close()));
    this.#idle.length = 0;
  }

  /** Gives some pairs to threads until each has a verdict, a new thread for the rest after each that was ended. */
  async #settleAll(
    pairs: readonly Pair[],
    indices: readonly number[],
    mine: Set<Job>,
    settle: (index: number, verdict: Verdict) => void,
  ): Promise<void> {
    for (let from = 0; from < indices.length; ) {
      const rest = indices.slice(from);
      const job: Job = {
        pairs: rest.map((index) => pairs[index]!),
        options: this.options,
        limit: this.#limit,
        settle: (i, verdict) => settle(rest[i]!, verdict),
      };
      mine.add(job);
      const answered = await new Promise<number>((resolve, reject) => {
        this.#waiting.set(job, { resolve, reject });
        this.#queue.push(job);
        this.#dispatch();
      });
      const dropped = !mine.delete(job);
      if (this.#closed && answered < rest.length)
        throw new ModelError("ERR_CLOSED", "the verifier was closed");
      if (dropped) return;
      from += answered;
    }
  }

  #dispatch(): void {
    while (this.#queue.length > 0 && this.#busy.size < this.workers) {
      const job = this.#queue.shift()!;
      const thread = this.#idle.pop() ?? new Thread(this.memoryLimit);
      this.#busy.set(job, thread);
      void this.#work(job, thread);
    }
  }

  async #work(job: Job, thread: Thread): Promise<void> {
    try {
      const { answered, ending } = await thread.run(job);
      if (ending === undefined && !this.#closed) this.#idle.push(thread);
      else await thread.close();
      // A thread that was ended took one pair with it.
      const lost = ending !== undefined && answered < job.pairs.length;
      if (lost) job.settle(answered, { status: "timeout", detail: DETAILS[ending] });
      this.#waiting.get(job)?.resolve(lost ? answered + 1 : answered);
    } catch (error) {
      this.#waiting.get(job)?.reject(error);
    }
    this.#busy.delete(job);
    this.#waiting.delete(job);
    this.#dispatch();
  }

  // Jobs of a batch that was aborted: those that wait are forgotten, those that run lose their thread.
  #drop(jobs: Set<Job>): void {
    for (const job of jobs) {
      const at = this.#queue.indexOf(job);
      if (at >= 0) {
        this.#queue.splice(at, 1);
        this.#waiting.get(job)?.resolve(0);
        this.#waiting.delete(job);
      } else void this.#busy.get(job)?.close();
    }
    jobs.clear();
  }
}

function lengthOf(pair: Pair): number {
  const text: unknown = "response" in pair ? pair.response : pair.prediction;
  return typeof text === "string" ? text.length : 0;
}
