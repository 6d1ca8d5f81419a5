import type { ModelConfig } from "./config.ts";
import type { Layer } from "./decoder.ts";
import { type Attributes, type GraphBuilder, MICROSOFT, type Value } from "./onnx/graph.ts";

type Floats = Value<"float32">;

/** @internal Tiles of one kind of layer: which keys a tile sees, and which of them each query may use. */
export interface TileInputs {
  /** Per tile: first query (a token index) and the one after the last; every tile has the same number. */
  readonly queryFrom: Value<"int64">;
  readonly queryTo: Value<"int64">;
  /** Per tile: the keys, a range of tokens. */
  readonly keyFrom: Value<"int64">;
  readonly keyTo: Value<"int64">;
  /** Number of tiles. */
  readonly count: Value<"int64">;
  /** Per token, `[tokens, 1]`: it sees tokens of `[trunkFrom, trunkTo)` and of `[ownFrom, itself]`. */
  readonly trunkFrom: Value<"int32">;
  readonly trunkTo: Value<"int32">;
  readonly ownFrom: Value<"int32">;
  /** `[tokens]`: 0, 1, 2, ... */
  readonly index: Value<"int32">;
}

/** @internal Name of the inputs that differ between layers with and without a window. */
export const windowName = (window: number | null): string => (window === null ? "full" : `window${window}`);

/** @internal Declares the inputs that place queries and keys, once per kind of layer. */
export function tileInputs(graph: GraphBuilder, layers: readonly Layer[]) {
  const long = (name: string, size: string | number) => graph.input(name, "int64", [size]);
  const perTile = { queryFrom: long("queryFrom", "tiles"), queryTo: long("queryTo", "tiles") };
  const count = graph.input("tiles", "int64", []);
  const index = graph.input("index", "int32", ["tokens"]);
  const kinds = new Map<string, TileInputs>();
  for (const { window } of layers) {
    const kind = windowName(window);
    if (kinds.has(kind)) continue;
    const perToken = (name: string) => graph.input(`${name}.${kind}`, "int32", ["tokens", 1]);
    kinds.set(kind, {
      ...perTile,
      count,
      index,
      keyFrom: long(`keyFrom.${kind}`, "tiles"),
      keyTo: long(`keyTo.${kind}`, "tiles"),
      trunkFrom: perToken("trunkFrom"),
      trunkTo: perToken("trunkTo"),
      ownFrom: perToken("ownFrom"),
    });
  }
  return {
    of: (window: number | null) => kinds.get(windowName(window))!,
    /** Per token: its row among the queries of all tiles. */
    tokenRows: graph.input("tokenRows", "int32", ["tokens"]),
    /** Per read: the same of the token that is read. */
    readRows: graph.input("readRows", "int32", ["reads"]),
  };
}

// Far below every score and finite: a query of another row that shares a tile stays finite too.
const HIDDEN = -1e30;

/**
 * @internal Attention over rows that lie one after the other. Works tile by tile (some queries of one row, and the
 * keys they can see), so nothing is padded, keys after the queries cost nothing, and the scores in memory are those of
 * one tile.
 */
export function lowerAttention(
  graph: GraphBuilder,
  parts: {
    q: Floats;
    k: Floats;
    v: Floats;
    config: ModelConfig;
    rotation: { cos: Floats; sin: Floats };
    qkNorm: { q: Floats; k: Floats; attributes: Attributes } | undefined;
    rows: Value<"int32">;
    tiles: TileInputs;
  },
): Floats {
  const { config, rotation, qkNorm, tiles } = parts;
  const { heads, kvHeads, headDim } = config;
  const group = heads / kvHeads;
  const reshape = (g: GraphBuilder, x: Floats, ...dims: number[]): Floats =>
    g.op("Reshape", "float32", [x, g.longs(...dims)]);
  // [tokens, n headDim] -> [n, tokens, headDim]
  const perHead = (x: Floats, n: number, gamma?: Floats, rotate = true): Floats => {
    let y = reshape(graph, x, -1, n, headDim);
    if (gamma) y = graph.op("SimplifiedLayerNormalization", "float32", [y, gamma], qkNorm!.attributes);
    if (rotate) {
      const flat = reshape(graph, y, 1, -1, n * headDim);
      const inputs = [flat, graph.longs(0), rotation.cos, rotation.sin];
      y = reshape(graph, graph.op("RotaryEmbedding", "float32", inputs, {}, MICROSOFT), -1, n, headDim);
    }
    return graph.op("Transpose", "float32", [y], { perm: [1, 0, 2] });
  };
  const queries = reshape(graph, perHead(parts.q, heads, qkNorm?.q), kvHeads, group, -1, headDim);
  const keys = perHead(parts.k, kvHeads, qkNorm?.k);
  const values = perHead(parts.v, kvHeads, undefined, false);
  const width = heads * headDim;
  const tiled = graph.collect(tiles.count, ["tiles", "tileQueries", width], (body, tile) => {
    const pick = (x: Value<"int64">): Value<"int64"> => body.op("Gather", "int64", [x, tile]);
    const [queryFrom, queryTo] = [pick(tiles.queryFrom), pick(tiles.queryTo)];
    const [keyFrom, keyTo] = [pick(tiles.keyFrom), pick(tiles.keyTo)];
    const ofQueries = <V extends Value>(x: V, axis: number) =>
      body.op("Slice", x.type as V["type"], [x, queryFrom, queryTo, body.longs(axis)]);
    const ofKeys = <V extends Value>(x: V, axis: number) =>
      body.op("Slice", x.type as V["type"], [x, keyFrom, keyTo, body.longs(axis)]);
    const q = body.op("Reshape", "float32", [ofQueries(queries, 2), body.longs(kvHeads, -1, headDim)]);
    const scale = { float: 1 / Math.sqrt(headDim) };
    const scores = body.op(
      "FusedMatMul",
      "float32",
      [q, ofKeys(keys, 1)],
      { transB: 1, alpha: scale },
      MICROSOFT,
    );
    const mask = lowerMask(body, tiles, ofQueries, ofKeys);
    // [kvHeads, group queries, keys] <-> [heads, queries, keys]
    const count = body.op("Shape", "int64", [mask]);
    const split = body.op("Concat", "int64", [body.longs(heads), count], { axis: 0 });
    const masked = body.op("Add", "float32", [body.op("Reshape", "float32", [scores, split]), mask]);
    const weights = body.op("Softmax", "float32", [masked], { axis: -1 });
    const join = body.op("Shape", "int64", [scores]);
    const folded: Floats = body.op("Reshape", "float32", [weights, join]);
    const mixed = body.op("MatMul", "float32", [folded, ofKeys(values, 1)]);
    const apart = reshape(body, mixed as Floats, heads, -1, headDim);
    return reshape(body, body.op("Transpose", "float32", [apart], { perm: [1, 0, 2] }), -1, width);
  });
  return graph.op("Gather", "float32", [reshape(graph, tiled, -1, width), parts.rows]);
}

// [queries, keys]: 0 where a query sees a key.
function lowerMask(
  body: GraphBuilder,
  tiles: TileInputs,
  ofQueries: <V extends Value>(x: V, axis: number) => Value<V["type"]>,
  ofKeys: <V extends Value>(x: V, axis: number) => Value<V["type"]>,
): Floats {
  const key = ofKeys(tiles.index, 0);
  const self = body.op("Unsqueeze", "int32", [ofQueries(tiles.index, 0), body.longs(1)]);
  const compare = (op: string, a: Value, b: Value) => body.op(op, "bool", [a, b]);
  const inside = (lower: Value, upper: [op: string, bound: Value]) =>
    compare("And", compare("GreaterOrEqual", key, lower), compare(upper[0], key, upper[1]));
  const trunk = inside(ofQueries(tiles.trunkFrom, 0), ["Less", ofQueries(tiles.trunkTo, 0)]);
  const own = inside(ofQueries(tiles.ownFrom, 0), ["LessOrEqual", self]);
  return body.op("Where", "float32", [compare("Or", trunk, own), body.scalar(0), body.scalar(HIDDEN)]);
}
