import { ArgumentError, InputError } from "../../errors.ts";
import { openCheckpoint } from "../../model/checkpoint.ts";
import { detectHeads } from "../../model/heads.ts";
import { loadTokenizer } from "../../model/tokenizer.ts";
import { bindConvention } from "../../prm/bind.ts";
import type { Convention } from "../../prm/convention.ts";
import { conventionOf } from "../../prm/load.ts";
import { scoreRead } from "../../prm/transform.ts";
import type { Ragged } from "../../ragged.ts";
import { joinRows, packRows } from "../batches.ts";
import { loadModel } from "../engine/create.ts";
import type { TrainableModel } from "../engine/model.ts";

/** A solution to be scored. */
export interface ScorerRow {
  /** Prompt and response. */
  readonly ids: Int32Array;
  /** Index into `ids` of the last token of each step, rising. */
  readonly ends: Int32Array;
}

/** Gives step rewards. */
export interface StepScorer {
  /** One reward per end, row by row. */
  score(rows: readonly ScorerRow[], options?: { signal?: AbortSignal }): Promise<Ragged<Float32Array>>;
  /** Frees what it holds, where that is more than memory. */
  close?(): Promise<void>;
}

/** Options of {@link createScorer}. */
export interface ScorerOptions {
  /** Takes the place of the token at every end, as in training. */
  readonly separatorId: number;
  /** From the classifier's outputs to a reward; default: p(class 1) - p(class 0), in (-1, 1). */
  readonly convention?: Pick<Convention, "score">;
  /** Tokens of a forward pass. Default 8192. */
  readonly batchTokens?: number;
}

const DIFFERENCE = { score: { transform: "softmax-difference", good: 1, bad: 0 } } as const;

/**
 * A scorer over a model with a classifier. The rewards are those of `minform score` for the same ids, up to the rounding of
 * the two engines (1e-4).
 *
 * @throws {@link ArgumentError} for a model without a classifier; `score` also for ends out of range
 */
export function createScorer(model: TrainableModel, options: ScorerOptions): StepScorer {
  const { separatorId, convention = DIFFERENCE, batchTokens = 8192 } = options;
  const { classifier } = model.heads;
  if (classifier === undefined)
    throw new ArgumentError("ERR_ARGUMENT_VALUE", "model: expected a classifier, got none");
  const reward = (outputs: Float32Array) => scoreRead(convention as Convention, outputs);
  return {
    async score(rows, { signal } = {}) {
      rows.forEach(checkRow);
      const offsets = new Int32Array(rows.length + 1);
      rows.forEach(({ ends }, i) => {
        offsets[i + 1] = offsets[i]! + ends.length;
      });
      const rewards = new Float32Array(offsets[rows.length]!);
      const lengths = rows.map(({ ids }) => ids.length);
      for (const { from, to } of packRows(lengths, batchTokens)) {
        if (offsets[from] === offsets[to]) continue;
        const outputs = await read(model, rows.slice(from, to), separatorId, signal);
        for (let i = offsets[from]!, at = 0; i < offsets[to]!; i++, at += classifier.classes)
          rewards[i] = reward(outputs.subarray(at, at + classifier.classes));
      }
      return { data: rewards, offsets };
    },
  };
}

async function read(
  model: TrainableModel,
  rows: readonly ScorerRow[],
  separatorId: number,
  signal: AbortSignal | undefined,
): Promise<Float32Array> {
  const batch = joinRows(rows.map(({ ids }) => ids));
  const reads = Int32Array.from(
    rows.flatMap(({ ends }, row) => Array.from(ends, (end) => batch.offsets[row]! + end)),
  );
  for (const at of reads) batch.data[at] = separatorId;
  const cancel = signal === undefined ? {} : { signal };
  const pass = await model.forward(batch, { keep: "nothing", ...cancel });
  return pass.readout("classifier", reads, cancel);
}

function checkRow({ ids, ends }: ScorerRow, row: number): void {
  for (let k = 0; k < ends.length; k++) {
    if (ends[k]! > (ends[k - 1] ?? -1) && ends[k]! < ids.length) continue;
    throw new ArgumentError(
      "ERR_SHAPE",
      `rows[${row}].ends[${k}]: expected rising indices below ${ids.length}, got ${ends[k]}`,
    );
  }
}

/** A scorer over a checkpoint folder. */
export interface OpenScorer extends StepScorer {
  /** The model, in float32. */
  readonly model: TrainableModel;
  /** The token that steps are read at. */
  readonly separatorId: number;
}

/**
 * Opens a PRM in the training engine: a token classifier that reads plain text at a separator of one token, which is what
 * {@link trainPrm} writes and PURE's PRMs are. Prompts go in as the policy has them.
 *
 * @throws {@link InputError} `ERR_INPUT` for a folder that holds another kind of PRM; `PrmError`
 */
export async function openScorer(
  folder: string,
  options: { readonly batchTokens?: number } = {},
): Promise<OpenScorer> {
  const checkpoint = await openCheckpoint(folder);
  const tokenizer = await loadTokenizer(checkpoint);
  const { convention } = conventionOf(folder, checkpoint, tokenizer);
  const [separatorId, ...more] = bindConvention(convention, tokenizer).separator ?? [];
  const head = detectHeads(checkpoint).find(({ kind }) => kind === convention.head);
  const isRead = convention.input.form === "plain" && separatorId !== undefined && more.length === 0;
  if (!isRead || head === undefined || !("classes" in head)) {
    throw new InputError(
      "ERR_INPUT",
      `${folder}: expected a token classifier that reads steps at a separator token, its convention is ${convention.name}`,
    );
  }
  const width = checkpoint.tensors.get("score.0.weight")?.shape[0];
  const classifier = { classes: head.classes, ...(width === undefined ? {} : { width }) };
  const model = await loadModel(checkpoint, { heads: { classifier } });
  return { ...createScorer(model, { separatorId, convention, ...options }), model, separatorId };
}
