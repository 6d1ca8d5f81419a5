// The `logits` entries of a case file: log-probs, entropy and their gradient.
import { type FloatArray, type Tensor, tokenLogProbs, tokenLogProbsBackward } from "../../lib/index.ts";
import { type Expected, flatten, type FloatKind, type RawLogits } from "./case-file.ts";
import type { Outcome } from "./functions.ts";

const INPUTS = ["logits", "targets", "temperature", "grad_log_probs", "grad_entropy", "seed", "tag"];

/** What an entry expects: everything that is not an input. */
export function expectedOf(entry: RawLogits): Record<string, Expected> {
  return Object.fromEntries(Object.entries(entry).filter(([name]) => !INPUTS.includes(name)));
}

/** Computes an entry in a dtype; `rounded` is float64 on logits and gradients rounded to float32. */
export async function logitsOutcome(entry: RawLogits, kind: FloatKind | "rounded"): Promise<Outcome> {
  const numbers = (name: string): FloatArray => {
    const values = flatten(entry[name]!, name);
    if (kind === "float32") return Float32Array.from(values);
    return Float64Array.from(kind === "rounded" ? Float32Array.from(values) : values);
  };
  const targets = Int32Array.from(flatten(entry.targets!, "targets"));
  const data = numbers("logits");
  const logits = {
    type: kind === "float32" ? "float32" : "float64",
    data,
    dims: [targets.length, data.length / targets.length],
  } as Tensor<"float64">;
  const { temperature } = entry;
  const forward = await tokenLogProbs(logits, targets, { temperature });
  const gradients = {
    gradLogProbs: numbers("grad_log_probs") as Float64Array,
    gradEntropy: numbers("grad_entropy") as Float64Array,
  };
  const gradLogits = await tokenLogProbsBackward(logits, targets, forward, gradients, { temperature });
  return {
    results: { log_probs: forward.logProbs, entropy: forward.entropy!, grad_logits: gradLogits.data },
  };
}
