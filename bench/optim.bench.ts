import { adamWInPlace, gradNorm } from "../lib/index.ts";
import { type BenchCase, noise } from "./case.ts";

const PARAMETERS = 10_000_000;
const options = { learningRate: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0.01 };

export default (): BenchCase[] => {
  const make = () => noise(new Float32Array(PARAMETERS));
  const zeros = () => new Float32Array(PARAMETERS);
  const state = { params: make(), grads: make(), firstMoments: zeros(), secondMoments: zeros() };
  const plain = { ...state, params: make(), firstMoments: zeros(), secondMoments: zeros() };
  let step = 1;
  return [
    {
      family: "optim",
      name: "adamWInPlace 10M float32",
      bytes: 28 * PARAMETERS, // 16 read, 12 written
      traffic: "copy",
      run: () => adamWInPlace(state, { ...options, step: step++, checkGrads: false }),
      javascript: () => plainAdamW(plain, step++),
      torch: "adamw_10m",
    },
    {
      family: "optim",
      name: "adamWInPlace 10M float32, gradients checked",
      bytes: 28 * PARAMETERS,
      traffic: "copy",
      run: () => adamWInPlace(state, { ...options, step: step++ }),
      torch: "adamw_10m",
    },
    {
      family: "optim",
      name: "gradNorm 10M float32",
      bytes: 4 * PARAMETERS,
      run: () => gradNorm(state.grads),
      javascript: () => plainNorm(state.grads),
      torch: "norm_10m",
    },
  ];
};

function plainAdamW(
  state: Record<"params" | "grads" | "firstMoments" | "secondMoments", Float32Array>,
  step: number,
) {
  const { params, grads, firstMoments, secondMoments } = state;
  const { learningRate, beta1, beta2, epsilon, weightDecay } = options;
  const [correction1, correction2] = [1 - beta1 ** step, 1 - beta2 ** step];
  for (let i = 0; i < params.length; i++) {
    const g = grads[i]!;
    const m = beta1 * firstMoments[i]! + (1 - beta1) * g;
    const v = beta2 * secondMoments[i]! + (1 - beta2) * g * g;
    firstMoments[i] = m;
    secondMoments[i] = v;
    const update = m / correction1 / (Math.sqrt(v / correction2) + epsilon);
    params[i] = params[i]! * (1 - learningRate * weightDecay) - learningRate * update;
  }
}

function plainNorm(grads: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < grads.length; i++) sum += grads[i]! * grads[i]!;
  return Math.sqrt(sum);
}
