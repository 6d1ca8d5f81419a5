import { ArgumentError } from "../errors.ts";
import { assertRagged, assertSameRows, assertVector } from "../validate.ts";
import type { ModelConfig } from "./config.ts";
import { sharedLength } from "./rope.ts";
import type { HeadBatch } from "./types.ts";

/**
 * @internal Checks a batch against the model and copies it, since it is posted to another thread.
 *
 * @throws ArgumentError `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE` naming row and position
 */
export function checkBatch(batch: HeadBatch, config: ModelConfig, withTargets: boolean): HeadBatch {
  const { ids, reads, targets, tree } = batch;
  assertRagged(ids, "ids", ["Int32Array"]);
  assertRagged(reads, "reads", ["Int32Array"]);
  if (reads.offsets.length !== ids.offsets.length) {
    throw new ArgumentError(
      "ERR_SHAPE",
      `reads: expected the ${ids.offsets.length - 1} rows of ids, got ${reads.offsets.length - 1}`,
    );
  }
  assertInside(ids, "ids", () => config.vocabSize);
  assertInside(reads, "reads", (row) => ids.offsets[row + 1]! - ids.offsets[row]!);
  if (withTargets !== (targets !== undefined)) {
    const want = withTargets ? "one target per read" : "none: the head is not an LM head";
    throw new ArgumentError("ERR_ARGUMENT_VALUE", `targets: expected ${want}`);
  }
  if (targets) {
    assertRagged(targets, "targets", ["Int32Array"]);
    assertSameRows(targets.offsets, "targets", reads.offsets, "reads");
    assertInside(targets, "targets", () => config.vocabSize);
  }
  if (tree) checkTree(batch as HeadBatch & { tree: NonNullable<HeadBatch["tree"]> }, config);
  else checkLengths(ids.offsets, config);
  const copy = ({ data, offsets }: HeadBatch["ids"]) => ({ data: data.slice(), offsets: offsets.slice() });
  return {
    ids: copy(ids),
    reads: copy(reads),
    ...(targets ? { targets: copy(targets) } : {}),
    ...(tree
      ? {
          tree: {
            positions: tree.positions.slice(),
            branch: tree.branch.slice(),
            trunkVisible: tree.trunkVisible.slice(),
          },
        }
      : {}),
  };
}

function assertInside(
  { data, offsets }: HeadBatch["ids"],
  name: string,
  limit: (row: number) => number,
): void {
  for (let row = 0; row + 1 < offsets.length; row++) {
    const below = limit(row);
    for (let i = offsets[row]!; i < offsets[row + 1]!; i++) {
      if (data[i]! < 0 || data[i]! >= below) {
        throw new ArgumentError(
          "ERR_ARGUMENT_VALUE",
          `${name}: expected an integer in [0, ${below}) at row ${row}, position ${i - offsets[row]!}, got ${data[i]}`,
        );
      }
    }
  }
}

function checkLengths(offsets: Int32Array, { maxLength }: ModelConfig): void {
  for (let row = 0; row + 1 < offsets.length; row++) {
    const length = offsets[row + 1]! - offsets[row]!;
    if (length > maxLength) {
      throw new ArgumentError(
        "ERR_ARGUMENT_VALUE",
        `ids: expected at most ${maxLength} tokens, the model's context, got ${length} in row ${row}`,
      );
    }
  }
}

function checkTree(
  { ids, tree }: HeadBatch & { tree: NonNullable<HeadBatch["tree"]> },
  { maxLength, rope }: ModelConfig,
): void {
  const tokens = ids.data.length;
  const shared = sharedLength(rope);
  for (const name of ["positions", "branch", "trunkVisible"] as const) {
    assertVector(tree[name], `tree.${name}`, tokens, ["Int32Array"]);
  }
  const fail = (name: string, want: string, row: number, token: number, got: number): never => {
    const at = `row ${row}, position ${token - ids.offsets[row]!}`;
    throw new ArgumentError("ERR_ARGUMENT_VALUE", `tree.${name}: expected ${want} at ${at}, got ${got}`);
  };
  for (let row = 0; row + 1 < ids.offsets.length; row++) {
    const last = new Map<number, number>();
    const rowTokens = tree.branch.subarray(ids.offsets[row], ids.offsets[row + 1]);
    const trunk = rowTokens.filter((branch) => branch === 0).length;
    const branches = trunk < rowTokens.length;
    for (let t = ids.offsets[row]!; t < ids.offsets[row + 1]!; t++) {
      const [position, branch, visible] = [tree.positions[t]!, tree.branch[t]!, tree.trunkVisible[t]!];
      const before = last.get(branch) ?? -1;
      if (branch < 0) fail("branch", "an integer >= 0", row, t, branch);
      if (position <= before || position >= maxLength) {
        fail("positions", `rising positions below ${maxLength}`, row, t, position);
      }
      if (position >= shared && branches) {
        const want = `positions below ${shared} in a row that branches, since the rotation depends on the length`;
        fail("positions", want, row, t, position);
      }
      if (branch > 0 && (visible < 0 || visible > trunk)) {
        fail("trunkVisible", `a number of the ${trunk} trunk tokens`, row, t, visible);
      }
      last.set(branch, position);
    }
  }
}

/** @internal Splits rows into passes of at most `maxTokens` tokens; a longer row is a pass of its own. */
export function planPasses(offsets: Int32Array, maxTokens: number): [from: number, to: number][] {
  const passes: [number, number][] = [];
  let from = 0;
  for (let row = 0; row + 1 < offsets.length; row++) {
    if (row > from && offsets[row + 1]! - offsets[from]! > maxTokens) {
      passes.push([from, row]);
      from = row;
    }
  }
  passes.push([from, offsets.length - 1]);
  return passes;
}
