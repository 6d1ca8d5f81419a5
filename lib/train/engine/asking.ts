import type { NativeJob } from "../../addon.ts";
import { runJob } from "../../job.ts";

/** @internal Tokens between two questions about a sequence. */
export const ASKED_EVERY = 16;

// Milliseconds between two looks at what was written: a step of a small model, a fraction of one of a large model.
const LOOK_EVERY = 2;

/**
 * @internal Asks about sequences while a job writes them, and ends those that are done. Nothing waits for an answer, yet
 * no result depends on when it comes: questions are asked of a sequence in order, and one that is done ends where the
 * question was, whatever was written since.
 */
export class Asking {
  /** Per row: 1 tells the job to write no more of it. */
  readonly ended: Uint8Array;
  private readonly asked: Int32Array;

  /**
   * @param tokens - `[rows, maxTokens]`, written by the job
   * @param lengths - how many of them there are by now, by row; the job counts them up
   */
  constructor(
    private readonly isDone: (tokens: Int32Array, row: number) => boolean,
    private readonly tokens: Int32Array,
    private readonly lengths: Int32Array,
  ) {
    this.ended = new Uint8Array(lengths.length);
    this.asked = new Int32Array(lengths.length);
  }

  /** Runs the job, asking meanwhile. What `isDone` throws cancels it and is thrown. */
  async during(signal: AbortSignal | undefined, start: () => NativeJob): Promise<number> {
    let job: NativeJob | undefined;
    let failure: { readonly cause: unknown } | undefined;
    const timer = setInterval(() => {
      try {
        this.ask();
      } catch (cause) {
        failure = { cause };
        clearInterval(timer);
        job?.cancel();
      }
    }, LOOK_EVERY);
    try {
      const status = await runJob(signal, () => (job = start()));
      if (failure !== undefined) throw failure.cause;
      this.ask();
      return status;
    } finally {
      clearInterval(timer);
    }
  }

  /** Takes back what was written of ended rows after they were done. */
  cut(stopped: Uint8Array): void {
    for (const [row, length] of this.asked.entries()) {
      if (this.ended[row] === 0 || this.lengths[row] === length) continue;
      this.lengths[row] = length;
      stopped[row] = 0;
    }
  }

  private ask(): void {
    const { tokens, lengths, asked, ended, isDone } = this;
    const width = tokens.length / lengths.length;
    for (let row = 0; row < lengths.length; row++) {
      const written = Atomics.load(lengths, row);
      while (ended[row] === 0 && asked[row]! + ASKED_EVERY <= written) {
        asked[row]! += ASKED_EVERY;
        if (isDone(tokens.slice(row * width, row * width + asked[row]!), row)) Atomics.store(ended, row, 1);
      }
    }
  }
}
