import { InputError } from "../../errors.ts";
import { assertCount, assertNumber, describe } from "../../validate.ts";
import type { Json } from "../run/folder.ts";

/** @internal What is known of a prompt. */
export interface PromptRecord {
  /** Running pass rate, in [0, 1]. */
  readonly rate: number;
  /** Draw before which the prompt rests. */
  readonly restsUntil: number;
}

/** @internal Asserts what {@link PromptSampler.report} takes, and gives the pass rate of the group. */
export function passRate(passes: number, samples: number): number {
  assertCount(samples, "samples");
  assertNumber(passes, "passes", { low: 0, high: samples });
  return samples === 0 ? 0 : passes / samples;
}

/** @internal Records by prompt id, in the order in which prompts were first reported. */
export class PromptRecords {
  private readonly records = new Map<string, PromptRecord>();

  get(id: string): PromptRecord | undefined {
    return this.records.get(id);
  }

  set(id: string, record: PromptRecord): void {
    this.records.set(id, record);
  }

  state(): Json {
    return [...this.records].map(([id, { rate, restsUntil }]) => [id, rate, restsUntil]);
  }

  restore(state: Json | undefined, isKnown: (id: string) => boolean): void {
    const entries = Array.isArray(state) ? (state as Json[]) : mismatch("records", "a list", state);
    this.records.clear();
    for (const entry of entries) {
      const [id, rate, restsUntil] = Array.isArray(entry) ? (entry as Json[]) : [];
      if (typeof id !== "string" || !isKnown(id)) mismatch("records", "ids of the prompts", id);
      this.records.set(id as string, {
        rate: restoredNumber(rate, "records"),
        restsUntil: restoredNumber(restsUntil, "records"),
      });
    }
  }
}

/** @internal The state of a sampler as an object of the expected kind. */
export function restoredState(state: Json, kind: string): { readonly [key: string]: Json } {
  if (state === null || typeof state !== "object" || Array.isArray(state))
    return mismatch("state", "an object", state);
  const found = state as { readonly [key: string]: Json };
  return found.kind === kind ? found : mismatch("kind", JSON.stringify(kind), found.kind);
}

/** @internal A number of a state. */
export function restoredNumber(value: Json | undefined, name: string): number {
  return typeof value === "number" && value >= 0 ? value : mismatch(name, "a number >= 0", value);
}

function mismatch(name: string, expected: string, got: unknown): never {
  throw new InputError(
    "ERR_INPUT",
    `sampler state: expected ${name} to be ${expected}, got ${describe(got)}`,
  );
}
