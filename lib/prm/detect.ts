import { PrmError } from "../errors.ts";
import type { Head, Tokenizer } from "../model/types.ts";
import { bindConvention } from "./bind.ts";
import type { Convention } from "./convention.ts";
import { families } from "./families.ts";

/** What a checkpoint shows about itself. */
export interface CheckpointEvidence {
  /** Folder or hub id it was opened from. */
  readonly source: string;
  /** Heads that its tensors allow. */
  readonly heads: readonly Exclude<Head, { kind: "lm-rows" }>[];
  /** Its tokenizer. */
  readonly tokenizer: Tokenizer;
}

/** A convention and why it was taken. */
export interface DetectedConvention {
  /** The convention. */
  readonly convention: Convention;
  /** For people: what gave it away. */
  readonly because: string;
}

/**
 * The convention of a checkpoint, where it is certain: a known hub id, a head that only one family has, or a tokenizer
 * that only one family's markers fit.
 *
 * @throws {@link PrmError} `ERR_CONVENTION_UNKNOWN` with the conventions that would fit
 */
export function detectConvention(evidence: CheckpointEvidence): DetectedConvention {
  const known = byHubId(evidence.source);
  if (known !== undefined) return { convention: known, because: `hub id ${evidence.source}` };
  const own = evidence.heads.filter((head) => head.kind !== "lm");
  const kinds = [...new Set(own.map((head) => head.kind))];
  const reasons: string[] = [];
  const fitting = Object.values(families).filter((convention) => fits(convention, evidence, reasons));
  if (kinds.length === 1) {
    const [kind] = kinds;
    // A scalar at the last token is also what every outcome reward model has.
    const alone = fitting.filter((convention) => convention.head === kind && kind !== "scalar");
    if (kind === "mlp") alone.splice(1); // reasonflux is qwen-prm without a system prompt
    if (alone.length === 1) return { convention: alone[0]!, because: `its ${kind} head and its tokenizer` };
  }
  const rows = fitting.filter((convention) => convention.head === "lm-rows");
  if (kinds.length === 0 && rows.length === 1) {
    return { convention: rows[0]!, because: "the only family with an LM head that its tokenizer fits" };
  }
  const names = fitting.map((convention) => convention.name);
  const heads = evidence.heads.map((head) => head.kind).join(", ") || "none";
  throw new PrmError(
    "ERR_CONVENTION_UNKNOWN",
    `${evidence.source}: the checkpoint does not tell how it was trained to be read (heads: ${heads}); name a convention: ${
      names.length === 0
        ? `none of the built-in ones fits, write your own${reasons.map((reason) => `; ${reason}`).join("")}`
        : `${names.join(", ")}, or your own`
    }`,
  );
}

function byHubId(source: string): Convention | undefined {
  const path = source.replaceAll("\\", "/");
  return Object.values(families).find(({ hubIds }) =>
    hubIds.some((id) => source === id || path.split("/").includes(`models--${id.replace("/", "--")}`)),
  );
}

// `reasons` takes what keeps a convention from a checkpoint that has its head.
function fits(convention: Convention, { heads, tokenizer }: CheckpointEvidence, reasons: string[]): boolean {
  const kind = convention.head === "lm-rows" ? "lm" : convention.head;
  if (!heads.some((head) => head.kind === kind)) return false;
  // PQM, also a value head, closes its steps with a token of its own.
  if (kind === "value" && tokenizer.idOf("[PRM]") !== undefined) return false;
  try {
    bindConvention(convention, tokenizer);
    return true;
  } catch (error) {
    if (!(error instanceof PrmError)) throw error;
    reasons.push(error.message);
    return false;
  }
}
