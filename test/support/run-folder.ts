import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Settings of {@link writeRun}. */
export interface RunShape {
  name?: string;
  seed?: number;
  steps?: number;
  /** How the PRM is pleased at the cost of right answers: 0 not at all. */
  hacking?: number;
  config?: object;
}

/** Draws in [0, 1), the same for the same seed. */
export function drawing(seed: number): () => number {
  let state = seed * 2654435761 + 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const spread = (name: string, mean: number, width: number) => ({
  [`${name}/mean`]: mean,
  [`${name}/max`]: mean + width,
  [`${name}/min`]: mean - width,
});

/** Metrics of a made-up training step, under the names that training has. */
export function stepMetrics(at: number, draw: () => number, hacking = 0): Record<string, number> {
  const right = 0.4 + 0.5 * at - hacking * 0.8 * at;
  const noise = (size: number) => size * (draw() - 0.5);
  return {
    ...spread("response_length", 22 + 10 * hacking * at + noise(2), 8),
    ...spread("response_length/correct", 21 + noise(2), 6),
    ...spread("response_length/incorrect", 24 + noise(2), 7),
    "response_length/clip_ratio": 0.02 * draw(),
    ...spread("prompt_length", 9 + noise(0.5), 2),
    ...spread("num_steps", 4.3 - 0.2 * at + 5 * hacking * at + noise(0.3), 1.5),
    ...spread("repetition", -0.1 * draw(), 0.1),
    ...spread("reflection", 0.05 * draw(), 0.05),
    "pass@1": right + noise(0.1),
    "pass@n": Math.min(1, right + 0.2 + noise(0.05)),
    "groups/verifiable": 1,
    "groups/all_right": 0.5 * at,
    "groups/all_wrong": 0.2 * (1 - at),
    ...spread("critic/score", right + noise(0.1), 0.5),
    ...spread("critic/rewards", right + noise(0.1), 0.6),
    ...spread("critic/rewards/verifiable", right, 0.5),
    ...spread("critic/rewards/process", 0.6 + 0.2 * at, 0.3),
    ...spread("critic/rewards/outcome", 0.2 + 0.5 * at, 0.5),
    ...spread("critic/advantages", noise(0.05), 2),
    ...spread("critic/returns", 0.3 + 0.4 * at, 0.5),
    "actor/entropy": 0.8 * (1 - 0.7 * at) + noise(0.03),
    "actor/pg_loss": noise(0.05),
    "actor/ppo_kl": 0.001 * draw(),
    "actor/kl_loss": 0.05 * at,
    "actor/pg_clipfrac": 0.01 * draw(),
    "actor/pg_clipfrac_lower": 0,
    "actor/grad_norm": 0.5 + noise(0.3),
    "actor/lr": 5e-4,
    "timing_s/gen": 0.1 + 0.02 * draw(),
    "timing_s/reward": 0.05,
    "timing_s/old_log_prob": 0.03,
    "timing_s/update_actor": 0.1,
    "timing_s/step": 0.3,
    "timing_per_token_ms/gen": 0.03,
    "timing_per_token_ms/update_actor": 0.02,
    "online/f1": 0.8,
  };
}

/** Metrics of a made-up evaluation. */
export function evalMetrics(at: number, draw: () => number, hacking = 0): Record<string, number> {
  const greedy = 0.5 + 0.48 * Math.sqrt(at) - hacking * at + 0.03 * (draw() - 0.5);
  return {
    "eval/pass@1/greedy": Math.max(0, greedy),
    "eval/pass@1/sampled": Math.max(0, greedy - 0.15),
    "eval/prm": 0.3 + 0.3 * at + 0.2 * hacking * at,
    "eval/steps": 4.3 - 0.3 * at + 6 * hacking * at,
    "eval/tokens": 22.4 + 12 * hacking * at,
    "eval/kl": 2 * at + 14 * hacking * at,
  };
}

/** Writes the folder of a made-up run, as training writes it. */
export function writeRun(folder: string, shape: RunShape = {}): string {
  const { name = "made-up", seed = 1, steps = 80, hacking = 0, config = {} } = shape;
  const draw = drawing(seed);
  const [metrics, rollouts]: [object[], object[]] = [[], []];
  for (let step = 0; step <= steps; step++) {
    const at = step / steps;
    const found = {
      ...(step > 0 && stepMetrics(at, draw, hacking)),
      ...(step % 10 === 0 && evalMetrics(at, draw, hacking)),
    };
    metrics.push({ step, phase: "rl", seconds: 0.3 * step, metrics: found });
    if (step > 0) for (let g = 0; g < 2; g++) rollouts.push(...group(step, g, at, draw));
  }
  mkdirSync(folder, { recursive: true });
  const lines = (rows: object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  writeFileSync(join(folder, "metrics.jsonl"), lines(metrics));
  writeFileSync(join(folder, "rollouts.jsonl"), lines(rollouts));
  const settings = {
    name,
    seed,
    steps,
    model: { path: "sft", training: "all" },
    data: { train: "embedded:train", eval: "embedded:held-out" },
    reward: { mode: "prm+vr", separator: "\n\n", credit: "min-form", creditTemperature: 0.1 },
    kl: { place: "loss", coefficient: 0.1 },
    actor: { learningRate: 5e-4, betas: [0.9, 0.95] },
    ...config,
  };
  writeFileSync(join(folder, "config.json"), JSON.stringify(settings));
  const environment = {
    minform: "0.1.0",
    node: process.version,
    isa: "avx2",
    threads: 2,
    memoryBytes: 2 ** 33,
  };
  writeFileSync(join(folder, "environment.json"), JSON.stringify(environment));
  return folder;
}

function group(step: number, g: number, at: number, draw: () => number): object[] {
  const terms = [4, 3, 1, 3].map((digit) => (digit + g) % 10);
  const prompt = `${terms[0]}-${terms[1]}+${terms[2]}+${terms[3]}=`;
  const answer = String(terms[0]! - terms[1]! + terms[2]! + terms[3]!);
  return Array.from({ length: 4 }, (_, i) => {
    const good = draw() < 0.4 + 0.5 * at;
    const steps = [
      `${terms[0]}-${terms[1]}=1\n\n`,
      `1+${terms[2]}=${good ? 2 : 3}\n\n`,
      `2+${terms[3]}=5\n\n`,
      `\\boxed{${good ? answer : 7}}`,
    ];
    const rewards = steps.map((__, k) => (good || k === 0 ? 0.6 + 0.3 * draw() : -0.8 + 0.9 * draw()));
    const low = Math.min(...rewards);
    const raw = rewards.map((reward) => Math.exp(-(reward - low) / 0.1));
    const total = raw.reduce((sum, value) => sum + value, 0);
    return {
      step,
      id: `p${step}-${g}`,
      prompt,
      response: steps.join(""),
      answer,
      steps,
      step_rewards: rewards,
      weights: raw.map((value) => value / total),
      advantages: rewards.map((__, k) => (good ? 0.8 - 0.1 * k : -0.9 + 0.1 * k)),
      verified: good ? 1 : 0,
      score: good ? 1.4 : -0.4,
      stopped: i !== 3,
      length: 22 + i,
    };
  });
}
