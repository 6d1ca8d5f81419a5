import type { HeadBatch } from "../model/types.ts";
import type { InputRow } from "./inputs/input.ts";

/**
 * @internal Groups rows for the model: longest first, so that the largest memory need comes at once; a batch holds at
 * most `budget` tokens, but always one row.
 *
 * @returns indices of rows, batch by batch
 */
export function planBatches(lengths: readonly number[], budget: number): number[][] {
  const order = lengths.map((_, i) => i).sort((a, b) => lengths[b]! - lengths[a]! || a - b);
  const batches: number[][] = [];
  let held = Infinity;
  for (const i of order) {
    held += lengths[i]!;
    if (held > budget) {
      batches.push([]);
      held = lengths[i]!;
    }
    batches.at(-1)!.push(i);
  }
  return batches;
}

/** @internal The runner's ragged form of some rows. */
export function toHeadBatch(rows: readonly InputRow[]): HeadBatch {
  const flat = (pick: (row: InputRow) => readonly number[]): { data: Int32Array; offsets: Int32Array } => {
    const offsets = new Int32Array(rows.length + 1);
    rows.forEach((row, i) => {
      offsets[i + 1] = offsets[i]! + pick(row).length;
    });
    const data = new Int32Array(offsets[rows.length]!);
    rows.forEach((row, i) => {
      data.set(pick(row), offsets[i]);
    });
    return { data, offsets };
  };
  const batch: HeadBatch = { ids: flat((row) => row.ids), reads: flat((row) => row.reads) };
  const withTargets = rows.some((row) => row.targets !== undefined);
  const withTree = rows.some((row) => row.tree !== undefined);
  return {
    ...batch,
    ...(withTargets ? { targets: flat((row) => row.targets!) } : {}),
    ...(withTree
      ? {
          tree: {
            positions: flat((row) => row.tree?.positions ?? row.ids.map((_, i) => i)).data,
            branch: flat((row) => row.tree?.branch ?? row.ids.map(() => 0)).data,
            trunkVisible: flat((row) => row.tree?.trunkVisible ?? row.ids.map(() => 0)).data,
          },
        }
      : {}),
  };
}
