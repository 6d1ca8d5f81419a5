import { minForm, placeSteps, ragged, raggedOffsets } from "../lib/index.ts";
import { type BenchCase, noise } from "./case.ts";

const [RESPONSES, STEPS, TOKENS] = [512, 64, 4096];

export default (): BenchCase[] => {
  const data = noise(new Float32Array(RESPONSES * STEPS));
  const offsets = raggedOffsets(new Array(RESPONSES).fill(STEPS));
  const rewards = { data, offsets };
  const tokens = raggedOffsets(new Array(RESPONSES).fill(TOKENS));
  const ends = Array.from({ length: STEPS }, (_, k) => ((k + 1) * TOKENS) / STEPS - 1);
  const stepEnds = ragged(new Array(RESPONSES).fill(ends), "int32");
  const out = new Float32Array(RESPONSES * TOKENS);
  return [
    {
      family: "credit",
      name: "minForm 512 x 64 steps",
      bytes: 4 * data.length * 4, // rewards in; credited rewards, returns and weights out
      traffic: "copy",
      run: () => minForm(rewards),
      javascript: () => plainMinForm(data),
      torch: "min_form",
    },
    {
      family: "credit",
      name: "placeSteps 512 x 64 steps on 4096 tokens",
      bytes: 4 * out.length,
      traffic: "copy",
      run: () => placeSteps(rewards, stepEnds, tokens, { place: "span", out }),
      javascript: () => plainPlace(data, ends),
      torch: "place_steps",
    },
  ];
};

function plainMinForm(data: Float32Array) {
  const [credited, returns, weights] = [data.slice(), data.slice(), data.slice()];
  for (let begin = 0; begin < data.length; begin += STEPS) {
    let [lowest, sum, tail] = [Infinity, 0, 0];
    for (let i = begin; i < begin + STEPS; i++) lowest = Math.min(lowest, data[i]!);
    for (let i = begin; i < begin + STEPS; i++) sum += Math.exp((lowest - data[i]!) / 0.1);
    for (let i = begin + STEPS - 1; i >= begin; i--) {
      weights[i] = Math.exp((lowest - data[i]!) / 0.1) / sum;
      credited[i] = weights[i]! * data[i]!;
      tail += credited[i]!;
      returns[i] = tail;
    }
  }
  return { credited, returns, weights };
}

function plainPlace(data: Float32Array, ends: number[]) {
  const out = new Float32Array(RESPONSES * TOKENS);
  for (let row = 0; row < RESPONSES; row++) {
    let at = 0;
    for (const [k, end] of ends.entries()) {
      for (; at <= end; at++) out[row * TOKENS + at] = data[row * STEPS + k]!;
    }
  }
  return out;
}
