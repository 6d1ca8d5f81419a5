import { InputError } from "../errors.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { findPrefix, type Linear, takeTensor } from "./decoder.ts";
import type { TensorEntry } from "./safetensors.ts";
import type { Head, LmHead, MlpHead, ScalarHead, TokenClassificationHead, ValueHead } from "./types.ts";

/** A head that a checkpoint's tensors allow. `lm` also allows `lm-rows`. */
export type FoundHead = TokenClassificationHead | MlpHead | ValueHead | LmHead | ScalarHead;

/** @internal What a head computes from the normalised hidden state of a read. */
export type HeadDescription =
  /** `x W^T + b` */
  | { readonly kind: "linear"; readonly linear: Linear; readonly outputs: number }
  /** `relu(x A^T + a) B^T + b` */
  | { readonly kind: "mlp"; readonly first: Linear; readonly second: Linear; readonly outputs: number }
  /** Some rows of the LM head. */
  | {
      readonly kind: "rows";
      readonly weight: TensorEntry;
      readonly rows: readonly number[];
      readonly outputs: number;
    }
  /** Log-probability of a target token. */
  | { readonly kind: "lm"; readonly weight: TensorEntry; readonly outputs: 1 };

/**
 * Which heads a checkpoint's tensors hold, the most specific first: `score` (one or more classes), `score.0`/`score.2`,
 * `v_head.summary`, `lm_head` or tied embeddings.
 *
 * A `score` of one row is reported as `scalar`, of more rows as `token-classification`.
 *
 * @throws {@link InputError} `ERR_INPUT` when the embedding cannot be found
 */
export function detectHeads(checkpoint: Checkpoint): FoundHead[] {
  const { tensors, config } = checkpoint;
  const at = locator(checkpoint);
  const rows = (name: string) => tensors.get(at(name))?.shape[0];
  const found: FoundHead[] = [];
  const classes = rows("score.weight");
  if (classes !== undefined) {
    found.push(classes === 1 ? { kind: "scalar" } : { kind: "token-classification", classes });
  }
  const outputs = rows("score.2.weight");
  if (outputs !== undefined) found.push({ kind: "mlp", classes: outputs });
  if (tensors.has(at("v_head.summary.weight"))) found.push({ kind: "value" });
  if (tensors.has(at("lm_head.weight")) || config.tied === true) found.push({ kind: "lm" });
  return found;
}

/**
 * The head that a checkpoint was trained for, where its architecture and tensors leave no doubt.
 *
 * @throws {@link InputError} `ERR_INPUT` when there is no head, or more than one and the architecture does not decide
 */
export function defaultHead(checkpoint: Checkpoint): FoundHead {
  const found = detectHeads(checkpoint);
  const own = found.filter((head) => head.kind !== "lm");
  if (own.length === 1) return own[0]!;
  if (found.length === 1) return found[0]!;
  const names = found.map((head) => head.kind).join(", ");
  throw new InputError(
    "ERR_INPUT",
    found.length === 0
      ? `${checkpoint.path}: no head found: expected score, score.0 and score.2, v_head.summary or lm_head`
      : `${checkpoint.path}: the head is ambiguous: the tensors allow ${names}`,
  );
}

/**
 * @internal The tensors of a head.
 *
 * @throws {@link InputError} `ERR_INPUT` when a tensor is missing, has another shape, or when the tensors allow two
 * readings of the same head
 */
export function describeHead(checkpoint: Checkpoint, head: Head): HeadDescription {
  const { tensors, config, path } = checkpoint;
  const at = locator(checkpoint);
  const hidden = config.hiddenSize;
  const linear = (name: string, out: number, into: number, bias: boolean): Linear => ({
    weight: takeTensor(checkpoint, at(`${name}.weight`), [out, into]),
    bias:
      bias || tensors.has(at(`${name}.bias`)) ? takeTensor(checkpoint, at(`${name}.bias`), [out]) : undefined,
  });
  switch (head.kind) {
    case "scalar":
    case "token-classification": {
      if (tensors.has(at("score.0.weight"))) {
        throw new InputError("ERR_INPUT", `${path}: score is a two-layer head, expected one layer`);
      }
      const outputs = head.kind === "scalar" ? 1 : checkClasses(head.classes);
      return { kind: "linear", linear: linear("score", outputs, hidden, false), outputs };
    }
    case "mlp": {
      if (tensors.has(at("score.weight"))) {
        throw new InputError("ERR_INPUT", `${path}: the head is ambiguous: score and score.0 are both there`);
      }
      const outputs = checkClasses(head.classes);
      const width = tensors.get(at("score.0.weight"))?.shape[0] ?? hidden;
      const first = linear("score.0", width, hidden, false);
      return { kind: "mlp", first, second: linear("score.2", outputs, width, false), outputs };
    }
    case "value":
      return { kind: "linear", linear: linear("v_head.summary", 1, hidden, false), outputs: 1 };
    case "lm":
      return { kind: "lm", weight: lmHead(checkpoint), outputs: 1 };
    case "lm-rows": {
      const rows = [...head.tokenIds];
      for (const id of rows) {
        if (!Number.isInteger(id) || id < 0 || id >= config.vocabSize) {
          throw new InputError(
            "ERR_INPUT",
            `${path}: token id ${id}: expected one of the ${config.vocabSize} rows of the LM head`,
          );
        }
      }
      if (rows.length === 0)
        throw new InputError("ERR_INPUT", `${path}: expected at least one row of the LM head`);
      return { kind: "rows", weight: lmHead(checkpoint), rows, outputs: rows.length };
    }
  }
}

function checkClasses(classes: number): number {
  if (Number.isInteger(classes) && classes > 0) return classes;
  throw new InputError("ERR_INPUT", `head: classes: expected a positive integer, got ${classes}`);
}

function lmHead(checkpoint: Checkpoint): TensorEntry {
  const { config, tensors, path } = checkpoint;
  const shape = [config.vocabSize, config.hiddenSize];
  const name = locator(checkpoint)("lm_head.weight");
  // An LM head that is stored is meant, whatever the config says of ties.
  if (config.tied === true && !tensors.has(name)) {
    return takeTensor(checkpoint, `${findPrefix(tensors, path)}embed_tokens.weight`, shape);
  }
  if (!tensors.has(name) && config.tied === undefined) {
    throw new InputError(
      "ERR_INPUT",
      `${path}: expected tensor ${name}: there is none, and config.json does not say that the embeddings are tied`,
    );
  }
  return takeTensor(checkpoint, name, shape);
}

// Heads stand beside the backbone, whose names start with one more "model."; a wrapper around the backbone (a value
// head) may stand outside of what the backbone's names start with.
function locator({ tensors, path }: Checkpoint): (name: string) => string {
  const root = findPrefix(tensors, path).replace(/model\.$/, "");
  return (name) => (tensors.has(root + name) || !tensors.has(name) ? root + name : name);
}
