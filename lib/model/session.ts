import { createRequire } from "node:module";
import { basename, dirname, relative, sep } from "node:path";
import type { InferenceSession, Tensor } from "onnxruntime-node";
import { ModelError } from "../errors.ts";
import { BITS } from "../quant/rows.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { describeDecoder } from "./decoder.ts";
import { buildFeeds, type Feed } from "./feeds.ts";
import { describeHead, type HeadDescription } from "./heads.ts";
import { lowerDecoder } from "./lower.ts";
import { quantizedWeights } from "./quantized-cache.ts";
import { Rotation } from "./rotation.ts";
import { readTensorBytes } from "./safetensors.ts";
import type { Head, HeadBatch } from "./types.ts";
import { isWeightType, toFloat32 } from "./weights.ts";

type Runtime = typeof import("onnxruntime-node");

/** @internal What a worker needs to load a model. Plain data: it is posted to a thread. */
export interface SessionSpec {
  readonly checkpoint: Checkpoint;
  readonly head: Head;
  readonly threads: number;
  readonly weights: "in-place" | "float32";
  readonly quantize?: "int8" | "int4" | undefined;
}

/** @internal The package that runs graphs, and the command that installs it. */
export const RUNTIME = { name: "onnxruntime-node", install: "npm install onnxruntime-node@1.30.0" };

/** @internal A graph in the runtime. Blocks its thread while it runs. */
export class ModelSession {
  private constructor(
    private readonly runtime: Runtime,
    private readonly session: InferenceSession,
    private readonly rotation: Rotation,
    private readonly spec: SessionSpec,
    /** Values per read. */
    readonly outputs: number,
  ) {}

  /** @throws InputError for tensors that do not fit; {@link ModelError} `ERR_DEPENDENCY`, `ERR_RUNTIME` */
  static async create(spec: SessionSpec): Promise<ModelSession> {
    const { checkpoint } = spec;
    const decoder = describeDecoder(checkpoint);
    const head = describeHead(checkpoint, spec.head);
    const runtime = loadRuntime();
    const quantized = spec.quantize && (await quantizedWeights(checkpoint, decoder, BITS[spec.quantize]));
    const entries = [
      ...checkpoint.tensors.values(),
      ...[...(quantized?.values() ?? [])].map((q) => q.packed),
    ];
    const folder = commonFolder(entries.map((entry) => entry.file));
    const model = lowerDecoder(decoder, head, {
      fileName: (path) => relative(folder, path).split(sep).join("/"),
      headRows: await readRows(head),
      quantized,
    });
    const options = sessionOptions(spec, folder);
    const session = await runtime.InferenceSession.create(model, options).catch((cause: Error) => {
      throw new ModelError(
        "ERR_RUNTIME",
        `${checkpoint.path}: the runtime refused the model: ${cause.message}`,
        {
          cause,
        },
      );
    });
    return new ModelSession(runtime, session, new Rotation(checkpoint.config.rope), spec, head.outputs);
  }

  /** Values of the reads of the rows `[from, to)` of a checked batch, `[reads, outputs]`. */
  async run(batch: HeadBatch, from: number, to: number): Promise<Float32Array> {
    const feeds = buildFeeds(this.spec.checkpoint.config, this.rotation, batch, from, to);
    const tensors = Object.entries(feeds).map(([name, feed]) => [name, this.tensor(feed)] as const);
    try {
      const results = await this.session.run(Object.fromEntries(tensors));
      const reads = batch.reads.offsets[to]! - batch.reads.offsets[from]!;
      return (results.values!.data as Float32Array).slice(0, reads * this.outputs);
    } catch (cause) {
      throw new ModelError("ERR_RUNTIME", `the runtime failed: ${(cause as Error).message}`, { cause });
    }
  }

  /** Frees the runtime's memory. */
  async release(): Promise<void> {
    await this.session.release();
  }

  private tensor({ type, data, dims }: Feed): Tensor {
    return new this.runtime.Tensor(type, data, dims);
  }
}

function loadRuntime(): Runtime {
  try {
    return createRequire(import.meta.url)(RUNTIME.name) as Runtime;
  } catch (cause) {
    throw new ModelError(
      "ERR_DEPENDENCY",
      `${RUNTIME.name} cannot be loaded (${(cause as Error).message.split("\n")[0]}): install it with ${RUNTIME.install}`,
      { cause },
    );
  }
}

function sessionOptions(
  { threads, weights, quantize }: SessionSpec,
  folder: string,
): InferenceSession.SessionOptions {
  const inPlace = weights === "in-place";
  return {
    executionProviders: ["cpu"],
    executionMode: "sequential",
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
    enableMemPattern: false,
    extra: {
      session: {
        model_external_initializers_file_folder_path: folder,
        // A packed copy is what makes products with 4-bit weights fast on few tokens; for 8 bits the runtime has no
        // such form in float32, and stored weights would only be held twice.
        ...(inPlace && quantize !== "int4" ? { disable_prepacking: "1" } : {}),
      },
      // Folding would turn every stored weight into a float32 copy that stays.
      ...(inPlace ? { optimization: { disable_specified_optimizers: "ConstantFolding" } } : {}),
    },
  };
}

// The runtime reads weights below one folder and follows no link out of it: entries hold resolved paths, and the
// folder is the deepest one above all of them (for a hub cache, the one that holds the blobs).
function commonFolder(files: readonly string[]): string {
  const [first, ...others] = [...new Set(files.map((file) => dirname(file)))];
  let folder = first!;
  for (const other of others) {
    while (relative(folder, other).split(sep)[0] === "..") folder = dirname(folder);
  }
  return folder;
}

async function readRows(head: HeadDescription): Promise<Float32Array | undefined> {
  if (head.kind !== "rows") return undefined;
  const { weight, rows } = head;
  if (!isWeightType(weight.type)) throw new TypeError(`${basename(weight.file)}: ${weight.type}`);
  const [height, hidden] = weight.shape as [number, number];
  const stride = weight.length / height;
  const values = new Float32Array(rows.length * hidden);
  for (const [i, row] of rows.entries()) {
    values.set(toFloat32(await readTensorBytes(weight, row * stride, stride), weight.type), i * hidden);
  }
  return values;
}
