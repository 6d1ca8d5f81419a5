import { minForm, ragged, raggedOffsets, rloo } from "../lib/index.ts";
import { type BenchCase, noise } from "./case.ts";

const [RESPONSES, STEPS, TOKENS, GROUP] = [512, 64, 4096, 8];

export default (): BenchCase[] => {
  const data = noise(new Float32Array(RESPONSES * STEPS));
  const rewards = { data, offsets: raggedOffsets(new Array(RESPONSES).fill(STEPS)) };
  const offsets = raggedOffsets(new Array(RESPONSES).fill(TOKENS));
  const ends = Array.from({ length: STEPS }, (_, k) => ((k + 1) * TOKENS) / STEPS - 1);
  const stepEnds = ragged(new Array(RESPONSES).fill(ends), "int32");
  const groups = Array.from({ length: RESPONSES }, (_, i) => Math.floor(i / GROUP));
  const out = new Float32Array(RESPONSES * TOKENS);
  return [
    {
      family: "advantage",
      name: "minForm + rloo 512 x 64 steps x 4096 tokens",
      bytes: 4 * out.length, // one number per token: what a single pass over the batch moves
      run: () => rloo({ rewards: minForm(rewards).rewards, stepEnds, offsets }, groups, { out }),
      javascript: () => plain(data, ends),
      torch: "min_form_rloo",
    },
  ];
};

// Soft min-form, rewards on the tokens, reward-to-go, and the pooled return of the siblings as baseline.
function plain(data: Float32Array, ends: number[]): Float32Array {
  const out = new Float32Array(RESPONSES * TOKENS);
  const sums = new Float64Array(RESPONSES);
  for (let row = 0; row < RESPONSES; row++) {
    const steps = data.subarray(row * STEPS, (row + 1) * STEPS);
    const lowest = steps.reduce((a, b) => Math.min(a, b), Infinity);
    const weights = steps.map((r) => Math.exp((lowest - r) / 0.1));
    const total = weights.reduce((a, b) => a + b, 0);
    for (const [k, end] of ends.entries()) out[row * TOKENS + end] = (weights[k]! / total) * steps[k]!;
    let tail = 0;
    for (let t = TOKENS - 1; t >= 0; t--) {
      tail += out[row * TOKENS + t]!;
      out[row * TOKENS + t] = tail;
      sums[row]! += tail;
    }
  }
  for (let row = 0; row < RESPONSES; row++) {
    const first = row - (row % GROUP);
    let baseline = 0;
    for (let j = first; j < first + GROUP; j++) if (j !== row) baseline += sums[j]!;
    baseline /= (GROUP - 1) * TOKENS;
    for (let t = 0; t < TOKENS; t++) out[row * TOKENS + t]! -= baseline;
  }
  return out;
}
