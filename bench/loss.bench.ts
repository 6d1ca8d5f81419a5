import { ppoLoss, raggedOffsets } from "../lib/index.ts";
import { type BenchCase, noise } from "./case.ts";

const [RESPONSES, TOKENS] = [64, 4096];
const EPSILON = 0.2;

export default (): BenchCase[] => {
  const total = RESPONSES * TOKENS;
  const offsets = raggedOffsets(new Array(RESPONSES).fill(TOKENS));
  const values = (seed: number, scale: number, shift: number) => ({
    data: noise(new Float32Array(total), seed).map((x) => x * scale + shift),
    offsets,
  });
  const oldLogProbs = values(1, 1, -1.5);
  const drift = noise(new Float32Array(total), 2);
  const logProbs = { data: oldLogProbs.data.map((x, i) => x + 0.3 * drift[i]!), offsets };
  const advantages = values(3, 1, 0);
  const out = new Float32Array(total);
  return [
    {
      family: "loss",
      name: "ppoLoss and gradient 64 x 4096",
      bytes: 16 * total, // three arrays in, the gradient out
      traffic: "copy",
      run: () => ppoLoss({ logProbs, oldLogProbs, advantages }, { out }),
      javascript: () => plainPpo(logProbs.data, oldLogProbs.data, advantages.data),
      torch: "ppo",
    },
  ];
};

// With the statistics that a trainer logs: clip fraction, mean ratio and approximate KL.
function plainPpo(logProbs: Float32Array, old: Float32Array, advantages: Float32Array) {
  const gradient = new Float32Array(logProbs.length);
  let [sum, clipped, ratios, kl] = [0, 0, 0, 0];
  for (let i = 0; i < logProbs.length; i++) {
    const d = Math.min(20, Math.max(-20, logProbs[i]! - old[i]!));
    const ratio = Math.exp(d);
    const free = -advantages[i]! * ratio;
    const bounded = -advantages[i]! * Math.min(1 + EPSILON, Math.max(1 - EPSILON, ratio));
    ratios += ratio;
    kl -= d;
    if (bounded > free) {
      sum += bounded;
      clipped++;
    } else {
      sum += free;
      gradient[i] = free / logProbs.length;
    }
  }
  const n = logProbs.length;
  return { loss: sum / n, gradient, clipFraction: clipped / n, meanRatio: ratios / n, kl: kl / n };
}
