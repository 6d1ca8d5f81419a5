import type { PhaseProgress } from "../run/progress.ts";
import { sparkline } from "./sparkline.ts";

// The curves worth a line, the most telling first.
const KEY = [
  ["eval/pass@1/greedy", "pass@1, greedy"],
  ["eval/pass@1/sampled", "pass@1, sampled"],
  ["eval/reward/greedy", "reward, greedy"],
  ["eval/reward/sampled", "reward, sampled"],
  ["eval/prm", "PRM score, held out"],
  ["eval/f1", "F1, held out"],
  ["eval/accuracy", "step accuracy, held out"],
  ["eval/loss", "loss, held out"],
  ["pass@1", "pass@1, training"],
  ["critic/score/mean", "score"],
  ["num_steps/mean", "steps"],
  ["response_length/mean", "tokens"],
  ["actor/entropy", "entropy"],
  ["actor/kl_loss", "KL in the loss"],
  ["sft/loss", "loss"],
  ["prm/loss", "loss"],
] as const;
const MOST_CURVES = 8;
const LABEL = Math.max(...KEY.map(([, label]) => label.length));

/**
 * @internal A phase of a run, or a part of one, as it goes: how far it is, how long it took and will take, what its curves
 * look like.
 */
export class PhaseView {
  readonly phase: string;
  readonly #part: string | undefined;
  readonly #from: number;
  readonly #began: number;
  readonly #told: number;
  readonly #curves = new Map<string, number[]>();
  #step: number;
  #steps: number;

  /**
   * @param began - when the phase began, what was done before its first step included; milliseconds
   * @param now - milliseconds
   */
  constructor({ phase, part, step, steps }: PhaseProgress, began: number, now: number) {
    this.phase = phase;
    this.#part = part;
    // The step that is told first, and what came before it, say nothing of how long a step takes.
    this.#from = step;
    this.#told = now;
    this.#began = began;
    this.#step = step;
    this.#steps = steps;
  }

  /** Whether progress is of this part of the phase. */
  shows({ phase, part }: PhaseProgress): boolean {
    return phase === this.phase && part === this.#part;
  }

  update({ step, steps, metrics }: PhaseProgress): void {
    this.#step = step;
    this.#steps = steps;
    for (const [name] of KEY) {
      const value = metrics[name];
      if (value === undefined || !Number.isFinite(value)) continue;
      const curve = this.#curves.get(name);
      if (curve === undefined) this.#curves.set(name, [value]);
      else curve.push(value);
    }
  }

  /** Progress and curves, each line at most `width` wide. */
  lines(width: number, now: number): string[] {
    const share = this.#steps === 0 ? 1 : Math.min(1, this.#step / this.#steps);
    const bar = 24;
    const filled = Math.round(share * bar);
    const head = `${this.#title}  ${"━".repeat(filled)}${"┄".repeat(bar - filled)}  ${this.#words(now)}`;
    const room = Math.max(4, Math.min(40, width - LABEL - 14));
    const curves = this.#known().map(([label, values]) => {
      return `  ${label.padEnd(LABEL)} ${sparkline(values, room).padEnd(room)} ${short(values.at(-1)!)}`;
    });
    return [head, ...curves].map((line) => [...line].slice(0, width).join(""));
  }

  /** The same in one line. */
  line(now: number): string {
    const numbers = this.#known().map(([label, values]) => `${label} ${short(values.at(-1)!)}`);
    return [`${this.#title}  ${this.#words(now)}`, ...numbers.slice(0, 5)].join("; ");
  }

  get #title(): string {
    return this.#part === undefined ? this.phase : `${this.phase}, ${this.#part}`;
  }

  #words(now: number): string {
    const done = this.#step - this.#from;
    const each = (now - this.#told) / 1000 / done;
    const left = done > 0 ? `, ${clock(each * (this.#steps - this.#step))} left` : "";
    const taken = clock((now - this.#began) / 1000);
    return `step ${this.#step} of ${this.#steps}, ${taken}${this.#step < this.#steps ? left : ""}`;
  }

  #known(): (readonly [label: string, values: readonly number[]])[] {
    return KEY.flatMap(([name, label]) => {
      const values = this.#curves.get(name);
      return values === undefined ? [] : [[label, values] as const];
    }).slice(0, MOST_CURVES);
  }
}

function short(value: number): string {
  return Math.abs(value) >= 1e-3 || value === 0
    ? String(Number(value.toPrecision(3)))
    : value.toExponential(1);
}

/** @internal Seconds as `42 s`, `3:07` minutes or `1:02:33` hours. */
export function clock(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const two = (value: number) => String(value % 60).padStart(2, "0");
  const minutes = Math.floor(whole / 60);
  return minutes < 60
    ? `${minutes}:${two(whole)}`
    : `${Math.floor(minutes / 60)}:${two(minutes)}:${two(whole)}`;
}
