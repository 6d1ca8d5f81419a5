// A job of several seconds, and its result's fingerprint, for the scripts beside this one. Runs the built library.
import { linearLogProbs } from "../../../dist/index.js";

const [rows, width, vocabulary] = [256, 256, 60_000];

// All zeros for the long one, which nobody reads: numbers would take longer than the work.
function head(tokens, weightOf) {
  const hidden = new Float64Array(rows * width).map((_, i) => Math.sin(i));
  const weight =
    weightOf === undefined
      ? new Float64Array(tokens * width)
      : new Float64Array(tokens * width).map(weightOf);
  return {
    hidden: { type: "float64", dims: [rows, width], data: hidden },
    weight: { type: "float64", dims: [tokens, width], data: weight },
  };
}

const targets = new Int32Array(rows);

/** Seconds of work. */
export function startLong() {
  const long = head(vocabulary);
  return () => linearLogProbs(long, targets);
}

/** A moment of work; the sum of its log-probs. */
export async function short() {
  const { logProbs } = await linearLogProbs(
    head(300, (_, i) => Math.cos(i) / 8),
    targets,
  );
  return logProbs.reduce((sum, value) => sum + value, 0);
}
