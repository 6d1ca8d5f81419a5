import { windowName } from "./attention.ts";
import type { ModelConfig } from "./config.ts";
import type { Rotation } from "./rotation.ts";
import type { HeadBatch } from "./types.ts";

/** @internal What one graph input is fed with. */
export type Feed =
  | { readonly type: "float32"; readonly data: Float32Array; readonly dims: readonly number[] }
  | { readonly type: "int32"; readonly data: Int32Array; readonly dims: readonly number[] }
  | { readonly type: "int64"; readonly data: BigInt64Array; readonly dims: readonly number[] };

// Scores of one tile, in float32 values: small enough to stay in the cache, large enough for the matrix product.
const TILE_SCORES = 1 << 20;
const MIN_QUERIES = 16;
const MAX_QUERIES = 128;

/** @internal One token of a pass: where it stands, and what it sees. */
interface Layout {
  /** Per new place: the token's index in the batch. */
  readonly order: Int32Array;
  /** Per token index in the batch (counted from the pass's first): its new place. */
  readonly place: Int32Array;
  readonly positions: Int32Array;
  /** Per row: first place, and one past the last at the end. */
  readonly rows: Int32Array;
  /** Per place: first place of its own segment (trunk or branch), and the range of the trunk that it sees. */
  readonly own: Int32Array;
  readonly trunkFrom: Int32Array;
  readonly trunkTo: Int32Array;
}

/**
 * @internal The graph's inputs for the rows `[from, to)` of a batch.
 *
 * @param batch - checked
 */
export function buildFeeds(
  config: ModelConfig,
  rotation: Rotation,
  batch: HeadBatch,
  from: number,
  to: number,
): Record<string, Feed> {
  const layout = layoutRows(batch, from, to);
  const { order, place, rows } = layout;
  const tokens = order.length;
  const base = batch.ids.offsets[from]!;
  const half = config.headDim / 2;
  const cos = new Float32Array(tokens * half);
  const sin = new Float32Array(tokens * half);
  for (let row = 0; row + 1 < rows.length; row++) {
    let length = 0;
    for (let t = rows[row]!; t < rows[row + 1]!; t++) length = Math.max(length, layout.positions[t]! + 1);
    for (let t = rows[row]!; t < rows[row + 1]!; t++)
      rotation.write(layout.positions[t]!, length, cos, sin, t);
  }
  const [readFrom, readTo] = [batch.reads.offsets[from]!, batch.reads.offsets[to]!];
  // A matrix of one row takes another path through the runtime, with other rounding: a single read is made twice, so
  // that its bits do not depend on what else is read.
  const reads = new Int32Array(Math.max(2, readTo - readFrom));
  for (let row = from; row < to; row++) {
    for (let r = batch.reads.offsets[row]!; r < batch.reads.offsets[row + 1]!; r++) {
      reads[r - readFrom] = place[batch.ids.offsets[row]! + batch.reads.data[r]! - base]!;
    }
  }
  if (readTo - readFrom === 1) reads[1] = reads[0]!;
  const tiling = tile(config, layout);
  const feeds: Record<string, Feed> = {
    ids: ints(order.map((token) => batch.ids.data[token]!)),
    cos: { type: "float32", data: cos, dims: [tokens, half] },
    sin: { type: "float32", data: sin, dims: [tokens, half] },
    reads: ints(reads),
    index: ints(Int32Array.from({ length: tokens }, (_, i) => i)),
    tokenRows: ints(tiling.tokenRows),
    readRows: ints(reads.map((token) => tiling.tokenRows[token]!)),
    queryFrom: longs(tiling.queryFrom),
    queryTo: longs(tiling.queryFrom.map((first) => first + tiling.queries)),
    tiles: { type: "int64", data: BigInt64Array.of(BigInt(tiling.queryFrom.length)), dims: [] },
  };
  for (const window of new Set(config.windows)) {
    Object.assign(feeds, windowFeeds(window, layout, tiling));
  }
  if (batch.targets) {
    const targets = batch.targets.data.slice(readFrom, readTo);
    feeds.targets = ints(reads.map((_, i) => targets[Math.min(i, targets.length - 1)]!));
  }
  return feeds;
}

const ints = (data: Int32Array): Feed => ({ type: "int32", data, dims: [data.length] });
const column = (data: Int32Array): Feed => ({ type: "int32", data, dims: [data.length, 1] });
const longs = (data: readonly number[]): Feed => ({
  type: "int64",
  data: BigInt64Array.from(data, BigInt),
  dims: [data.length],
});

// Tokens of a branching row are put in the order trunk, branch 1, branch 2, ... so that each sees at most two ranges.
function layoutRows({ ids, tree }: HeadBatch, from: number, to: number): Layout {
  const base = ids.offsets[from]!;
  const tokens = ids.offsets[to]! - base;
  const layout: Layout = {
    order: new Int32Array(tokens),
    place: new Int32Array(tokens),
    positions: new Int32Array(tokens),
    rows: ids.offsets.slice(from, to + 1).map((offset) => offset - base),
    own: new Int32Array(tokens),
    trunkFrom: new Int32Array(tokens),
    trunkTo: new Int32Array(tokens),
  };
  const { order, place, positions, rows, own } = layout;
  for (let row = 0; row + 1 < rows.length; row++) {
    const [first, end] = [rows[row]!, rows[row + 1]!];
    const sorted = Array.from({ length: end - first }, (_, i) => base + first + i);
    if (tree) sorted.sort((a, b) => tree.branch[a]! - tree.branch[b]! || a - b);
    let segment = first;
    for (const [i, token] of sorted.entries()) {
      const at = first + i;
      const branch = tree ? tree.branch[token]! : 0;
      if (tree && i > 0 && branch !== tree.branch[sorted[i - 1]!]) segment = at;
      order[at] = token;
      place[token - base] = at;
      positions[at] = tree ? tree.positions[token]! : i;
      own[at] = segment;
      layout.trunkFrom[at] = first;
      layout.trunkTo[at] = branch === 0 ? first : first + tree!.trunkVisible[token]!;
    }
  }
  return layout;
}

interface Tiling {
  readonly queries: number;
  readonly queryFrom: number[];
  /** Per tile: the first place that belongs to it, and the one after its last. */
  readonly from: number[];
  readonly to: number[];
  readonly tokenRows: Int32Array;
}

function tile({ heads }: ModelConfig, { rows, order }: Layout): Tiling {
  const tokens = order.length;
  let longest = 0;
  for (let row = 0; row + 1 < rows.length; row++) longest = Math.max(longest, rows[row + 1]! - rows[row]!);
  const fitting = Math.floor(TILE_SCORES / (heads * longest));
  const queries = Math.min(longest, Math.max(MIN_QUERIES, Math.min(MAX_QUERIES, fitting)));
  const tiling: Tiling = { queries, queryFrom: [], from: [], to: [], tokenRows: new Int32Array(tokens) };
  for (let row = 0; row + 1 < rows.length; row++) {
    for (let first = rows[row]!; first < rows[row + 1]!; first += queries) {
      const end = Math.min(first + queries, rows[row + 1]!);
      // Every tile has the same number of queries: near the end of the batch it starts earlier, and what it
      // computes for tokens that are not its own is never gathered.
      const queryFrom = Math.min(first, tokens - queries);
      const number = tiling.queryFrom.length;
      for (let t = first; t < end; t++) tiling.tokenRows[t] = number * queries + t - queryFrom;
      tiling.queryFrom.push(queryFrom);
      tiling.from.push(first);
      tiling.to.push(end);
    }
  }
  return tiling;
}

function windowFeeds(window: number | null, layout: Layout, tiling: Tiling): Record<string, Feed> {
  const { positions, own, trunkFrom, trunkTo } = layout;
  const tokens = positions.length;
  const ownFrom = own.slice();
  const trunk = trunkFrom.slice();
  if (window !== null) {
    for (let t = 0; t < tokens; t++) {
      const oldest = positions[t]! - window + 1;
      ownFrom[t] = firstAt(positions, own[t]!, t, oldest);
      trunk[t] = firstAt(positions, trunkFrom[t]!, trunkTo[t]!, oldest);
    }
  }
  const keyFrom = tiling.from.map((from, number) => {
    let first = from;
    for (let t = from; t < tiling.to[number]!; t++) {
      first = Math.min(first, ownFrom[t]!, trunk[t]! < trunkTo[t]! ? trunk[t]! : first);
    }
    return first;
  });
  const kind = windowName(window);
  return {
    [`keyFrom.${kind}`]: longs(keyFrom),
    [`keyTo.${kind}`]: longs(tiling.to),
    [`trunkFrom.${kind}`]: column(trunk),
    [`trunkTo.${kind}`]: column(trunkTo),
    [`ownFrom.${kind}`]: column(ownFrom),
  };
}

// First index in [from, to] whose position is at least `oldest`; positions rise inside a segment.
function firstAt(positions: Int32Array, from: number, to: number, oldest: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (positions[middle]! >= oldest) high = middle;
    else low = middle + 1;
  }
  return low;
}
