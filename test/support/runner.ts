// A model that is nothing but causality: each output depends on every id that its read can see, in order, and on
// nothing else. Two inputs agree in a read exactly when the model would have seen the same ids there.
import type { HeadBatch, HeadRunner } from "../../lib/model/types.ts";

export interface FakeRunner extends HeadRunner {
  readonly batches: HeadBatch[];
  closed: boolean;
}

export function fakeRunner({
  outputs = 2,
  maxLength = 4096,
  seed = 1,
  logits,
}: {
  outputs?: number;
  maxLength?: number;
  seed?: number;
  logits?: (seen: readonly number[]) => number[];
} = {}): FakeRunner {
  const batches: HeadBatch[] = [];
  return {
    outputs,
    maxLength,
    batches,
    closed: false,
    async run(batch, options) {
      options?.signal?.throwIfAborted();
      batches.push(batch);
      const { ids, reads, targets, tree } = batch;
      const out: number[] = [];
      for (let row = 0; row + 1 < ids.offsets.length; row++) {
        const begin = ids.offsets[row]!;
        const size = ids.offsets[row + 1]! - begin;
        for (let r = reads.offsets[row]!; r < reads.offsets[row + 1]!; r++) {
          const at = reads.data[r]!;
          if (at < 0 || at >= size) throw new Error(`read ${at} outside a row of ${size}`);
          const seen = visible(batch, begin, at);
          if (seen.some(({ position }, i) => position !== i)) throw new Error("positions have a gap");
          const sequence = seen.map(({ id }) => id);
          if (targets) out.push(logProb(sequence, targets.data[r]!, seed));
          else if (logits) out.push(...logits(sequence));
          else for (let k = 0; k < outputs; k++) out.push(hash(sequence, seed + k));
        }
      }
      void tree;
      return Float32Array.from(out);
    },
    async close() {
      this.closed = true;
    },
  };
}

function visible({ ids, tree }: HeadBatch, begin: number, at: number): { id: number; position: number }[] {
  const seen: { id: number; position: number }[] = [];
  const branch = tree?.branch[begin + at] ?? 0;
  const trunk = tree?.trunkVisible[begin + at] ?? 0;
  let trunkSeen = 0;
  for (let i = 0; i <= at; i++) {
    const own = tree?.branch[begin + i] ?? 0;
    const position = tree?.positions[begin + i] ?? i;
    if (own === 0 && branch !== 0 && trunkSeen++ >= trunk) continue;
    if (own !== 0 && own !== branch) continue;
    seen.push({ id: ids.data[begin + i]!, position });
  }
  return seen;
}

// In [-4, 4], equal only for equal sequences (up to collisions of a 31-bit hash).
function hash(ids: readonly number[], seed: number): number {
  let h = seed * 7919;
  for (const id of ids) h = (Math.imul(h, 31) + id + 17) | 0;
  h ^= h >>> 15;
  h = Math.imul(h, 0x2c1b3c6d);
  h ^= h >>> 12;
  return ((h >>> 0) / 2 ** 32) * 8 - 4;
}

function logProb(ids: readonly number[], target: number, seed: number): number {
  return (hash([...ids, target], seed) - 4.1) / 2;
}
