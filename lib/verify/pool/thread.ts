import { Worker } from "node:worker_threads";
import { ModelError } from "../../errors.ts";
import type { Verdict } from "../types.ts";
import type { Pair } from "../presets/types.ts";
import type { GradingOptions, Reply, Request } from "./protocol.ts";

// The compiled file also when this one runs from source: a thread cannot load TypeScript on every supported Node.
const WORKER = new URL(
  import.meta.url.endsWith(".ts") ? "../../../dist/verify/pool/worker.js" : "./worker.js",
  import.meta.url,
);

/** @internal Pairs for one thread, and where their verdicts go. */
export interface Job {
  readonly pairs: readonly Pair[];
  readonly options: GradingOptions;
  /** Milliseconds after which a pair is given up and the thread ended. */
  readonly limit: number;
  settle(index: number, verdict: Verdict): void;
}

/** @internal How a thread came to its end before a job did. */
export type Ending = "timeout" | "memory" | "failure";

/** @internal A worker thread that does one job at a time, and can be ended in the middle of one. */
export class Thread {
  readonly #worker: Worker;
  readonly #ready: Promise<void>;
  #receive: ((verdict: Verdict) => void) | undefined;
  #end: ((ending: Ending) => void) | undefined;
  #ended: Ending | undefined;
  #cause: unknown;

  constructor(memoryLimit: number) {
    const execArgv = process.execArgv.filter((flag) => !flag.startsWith("--input-type"));
    this.#worker = new Worker(WORKER, {
      execArgv,
      resourceLimits: { maxOldGenerationSizeMb: memoryLimit, stackSizeMb: 4 },
    });
    this.#worker.unref();
    this.#ready = new Promise((resolve) => {
      this.#worker.on("message", (reply: Reply) => {
        if (reply.kind === "ready") resolve();
        else this.#receive?.(reply.verdict);
      });
      this.#worker.on("error", (error: NodeJS.ErrnoException) => {
        this.#cause = error;
        this.#stop(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "failure");
        resolve();
      });
      this.#worker.on("exit", () => {
        this.#stop("failure");
        resolve();
      });
    });
  }

  #stop(ending: Ending): void {
    this.#ended ??= ending;
    this.#end?.(this.#ended);
  }

  /**
   * Does a job; resolves to how many of its pairs were answered, and why no more.
   *
   * @throws {@link ModelError} `ERR_RUNTIME` when the thread never came up
   */
  async run({
    pairs,
    options,
    limit,
    settle,
  }: Job): Promise<{ answered: number; ending: Ending | undefined }> {
    this.#worker.ref();
    await this.#ready;
    if (this.#ended === "failure" && this.#cause !== undefined) {
      const { message } = this.#cause as Error;
      throw new ModelError("ERR_RUNTIME", `a grading thread cannot run: ${message}`, { cause: this.#cause });
    }
    let answered = 0;
    const ending = await new Promise<Ending | undefined>((resolve) => {
      if (this.#ended !== undefined) {
        resolve(this.#ended);
        return;
      }
      let timer: NodeJS.Timeout | undefined;
      const wait = (): void => {
        const before = answered;
        timer = setTimeout(() => {
          // Verdicts that came while this thread was busy elsewhere are read first.
          setImmediate(() => setImmediate(() => answered === before && resolve("timeout")));
        }, limit);
      };
      this.#end = (found) => {
        clearTimeout(timer);
        resolve(found);
      };
      this.#receive = (verdict) => {
        clearTimeout(timer);
        settle(answered++, verdict);
        if (answered === pairs.length) resolve(undefined);
        else wait();
      };
      wait();
      const request: Request = { pairs, options };
      this.#worker.postMessage(request);
    });
    this.#receive = undefined;
    this.#end = undefined;
    this.#worker.unref();
    return { answered, ending };
  }

  async close(): Promise<void> {
    this.#stop("failure");
    await this.#worker.terminate();
  }
}
