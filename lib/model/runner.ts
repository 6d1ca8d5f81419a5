import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import * as errors from "../errors.ts";
import { ModelError } from "../errors.ts";
import { BITS } from "../quant/rows.ts";
import { assertCount, assertOneOf } from "../validate.ts";
import { workerFlags } from "../worker-flags.ts";
import { checkBatch, planPasses } from "./batch.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { describeDecoder } from "./decoder.ts";
import { describeHead } from "./heads.ts";
import { quantizedWeights } from "./quantized-cache.ts";
import type { QuantizeProgress } from "./quantized-file.ts";
import { sharedLength } from "./rope.ts";
import type { Reply, Request, SentError } from "./runner-worker.ts";
import type { SessionSpec } from "./session.ts";
import type { Head, HeadBatch, HeadRunner } from "./types.ts";

/** Options of {@link createRunner}. */
export interface RunnerOptions {
  /** Threads of the runtime. Default: what the machine offers. */
  threads?: number;
  /**
   * `"in-place"` (default): weights stay in their file, float32 copies live for one layer at a time. `"float32"`: all
   * weights of the layers are converted at load, which takes 4 bytes each and saves the conversion in every pass.
   */
  weights?: "in-place" | "float32";
  /**
   * Use 8-bit or 4-bit weights in the layers (blocks of 32 inputs share a scale; heads and embeddings stay as they are).
   * They are written once into the cache (`MINFORM_CACHE`, by default `~/.cache/minform`) and reused. Scores change: see
   * {@link quantizationError}.
   */
  quantize?: "int8" | "int4";
  /** Called while the quantised weights are written: at the start and after every few million of them. */
  onQuantize?: (progress: QuantizeProgress) => void;
  /** Ends the loading: quantisation stops within some milliseconds, the runtime's own part is finished first. */
  signal?: AbortSignal;
  /** Tokens of one pass; a batch of more is run in several, a longer row in one of its own. Default 4096. */
  maxTokens?: number;
}

/**
 * Loads a backbone and a head into a thread of its own.
 *
 * A read's values are the same alone and in any batch, order and thread count to 1e-5, and the same bits for the same
 * batch. Rows are not padded.
 *
 * @param checkpoint - from {@link openCheckpoint}
 * @param head - which head to compute
 * @throws {@link InputError} `ERR_INPUT` for a missing or ambiguous head, or tensors that do not fit the config;
 * {@link ModelError} `ERR_DEPENDENCY` when onnxruntime-node is not installed, `ERR_RUNTIME` when it refuses the model;
 * with `quantize`: {@link InputError} when the cache cannot be written, {@link NumericError} `ERR_NOT_FINITE` for a weight
 * that is NaN or infinite; the reason of `signal`
 */
export async function createRunner(
  checkpoint: Checkpoint,
  head: Head,
  options: RunnerOptions = {},
): Promise<HeadRunner> {
  const { threads = availableParallelism(), weights = "in-place", maxTokens = 4096, quantize } = options;
  const { onQuantize: onProgress, signal } = options;
  assertCount(threads, "threads");
  assertCount(maxTokens, "maxTokens");
  assertOneOf(weights, "weights", ["in-place", "float32"]);
  if (quantize !== undefined) assertOneOf(quantize, "quantize", ["int8", "int4"]);
  signal?.throwIfAborted();
  const decoder = describeDecoder(checkpoint);
  describeHead(checkpoint, head);
  // Here rather than in the model's thread, where neither the callback nor the signal could reach it.
  if (quantize) await quantizedWeights(checkpoint, decoder, BITS[quantize], { onProgress, signal });
  const spec: SessionSpec = { checkpoint, head, threads, weights, quantize };
  const runner = new WorkerRunner(spec, Math.max(1, maxTokens));
  await runner.ready;
  if (signal?.aborted) {
    await runner.close();
    throw signal.reason;
  }
  return runner;
}

/** What quantisation does to the values of some reads. */
export interface QuantizationError {
  /** Largest absolute difference of a value. */
  readonly max: number;
  /** Mean absolute difference. */
  readonly mean: number;
}

/**
 * Runs a batch with the weights as stored and with quantised ones, and compares the raw values.
 *
 * @param checkpoint - from {@link openCheckpoint}
 * @param head - which head to compute
 * @param quantize - which quantisation
 * @param batch - rows to compare on
 * @throws as {@link createRunner}
 */
export async function quantizationError(
  checkpoint: Checkpoint,
  head: Head,
  quantize: "int8" | "int4",
  batch: HeadBatch,
): Promise<QuantizationError> {
  const values: Float32Array[] = [];
  for (const options of [{}, { quantize }]) {
    const runner = await createRunner(checkpoint, head, options);
    try {
      values.push(await runner.run(batch));
    } finally {
      await runner.close();
    }
  }
  const differences = Array.from(values[0]!, (value, i) => Math.abs(value - values[1]![i]!));
  const sum = differences.reduce((total, difference) => total + difference, 0);
  return { max: Math.max(0, ...differences), mean: sum / Math.max(1, differences.length) };
}

// The compiled file also when this one runs from source: a thread cannot load TypeScript on every supported Node.
const WORKER = new URL(
  import.meta.url.endsWith(".ts") ? "../../dist/model/runner-worker.js" : "./runner-worker.js",
  import.meta.url,
);

interface Waiting {
  resolve(values: Float32Array): void;
  reject(error: unknown): void;
}

class WorkerRunner implements HeadRunner {
  /** Settles once the model is loaded. */
  readonly ready: Promise<void>;
  outputs = 0;
  readonly maxLength: number;
  readonly treeLength: number;

  private readonly worker: Worker;
  private readonly waiting = new Map<number, Waiting>();
  private readonly ended: Promise<void>;
  private next = 0;
  private closed: ModelError | undefined;

  constructor(
    private readonly spec: SessionSpec,
    private readonly maxTokens: number,
  ) {
    this.maxLength = spec.checkpoint.config.maxLength;
    this.treeLength = sharedLength(spec.checkpoint.config.rope);
    // The runtime's official builds report models and machines to their maker unless the process says no. It reads the
    // process's own environment, so this thread says it and not the model's.
    process.env.ORT_DISABLE_TELEMETRY ??= "1";
    this.worker = new Worker(WORKER, { workerData: spec, ...workerFlags() });
    this.ended = new Promise((resolve) => this.worker.once("exit", () => resolve()));
    this.ready = new Promise((resolve, reject) => {
      this.worker.on("message", (reply: Reply) => {
        if (reply.kind === "ready") {
          this.outputs = reply.outputs;
          resolve();
          this.idle();
        } else if (reply.kind === "failed" && reply.id === undefined) {
          reject(received(reply.error));
        } else {
          this.settle(reply as Exclude<Reply, { kind: "ready" }>);
        }
      });
      const fail = (error: ModelError) => {
        reject(error);
        this.fail(error);
      };
      this.worker.on("error", (cause) => {
        fail(
          new ModelError("ERR_RUNTIME", `the model's thread failed: ${(cause as Error).message}`, { cause }),
        );
      });
      this.worker.on("exit", () => fail(new ModelError("ERR_CLOSED", "the model was closed")));
    });
  }

  async run(batch: HeadBatch, options: { signal?: AbortSignal } = {}): Promise<Float32Array> {
    const { signal } = options;
    signal?.throwIfAborted();
    if (this.closed) throw this.closed;
    const checked = checkBatch(batch, this.spec.checkpoint.config, this.spec.head.kind === "lm");
    const { offsets } = checked.reads;
    const total = checked.reads.data.length;
    const values = new Float32Array(total * this.outputs);
    for (const [from, to] of planPasses(checked.ids.offsets, this.maxTokens)) {
      if (offsets[from] === offsets[to]) continue;
      signal?.throwIfAborted();
      values.set(await this.pass(checked, from, to, signal), offsets[from]! * this.outputs);
    }
    return values;
  }

  async close(): Promise<void> {
    if (this.closed === undefined) {
      this.closed = new ModelError("ERR_CLOSED", "the model was closed");
      this.worker.ref();
      this.post({ kind: "close" });
    }
    await this.ended;
  }

  private pass(batch: HeadBatch, from: number, to: number, signal?: AbortSignal): Promise<Float32Array> {
    if (this.closed) return Promise.reject(this.closed);
    const id = this.next++;
    return new Promise<Float32Array>((resolve, reject) => {
      const abort = () => {
        // The pass itself cannot be stopped: its result is dropped when it comes.
        this.waiting.delete(id);
        this.idle();
        reject(signal!.reason);
      };
      const done = () => signal?.removeEventListener("abort", abort);
      this.waiting.set(id, {
        resolve: (values) => {
          done();
          resolve(values);
        },
        reject: (error) => {
          done();
          reject(error);
        },
      });
      signal?.addEventListener("abort", abort, { once: true });
      this.worker.ref();
      this.post({ kind: "run", id, batch, from, to });
    });
  }

  private post(request: Request): void {
    this.worker.postMessage(request);
  }

  private settle(reply: Exclude<Reply, { kind: "ready" }>): void {
    const waiting = this.waiting.get(reply.id!);
    this.waiting.delete(reply.id!);
    this.idle();
    if (reply.kind === "values") waiting?.resolve(reply.values);
    else waiting?.reject(received(reply.error));
  }

  private fail(error: ModelError): void {
    this.closed ??= error;
    for (const waiting of this.waiting.values()) waiting.reject(error);
    this.waiting.clear();
  }

  // A model that nobody waits for does not keep the process alive.
  private idle(): void {
    if (this.waiting.size === 0 && this.closed === undefined) this.worker.unref();
  }
}

function received({ type, code, message, stack }: SentError): Error {
  const known = (errors as unknown as Record<string, unknown>)[type];
  if (code === undefined || typeof known !== "function") {
    return new ModelError("ERR_RUNTIME", message, { cause: stack });
  }
  const Known = known as new (code: string, message: string, options: ErrorOptions) => Error;
  return new Known(code, message, { cause: stack });
}
