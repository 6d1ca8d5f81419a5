// The products of attention for one key head: operands in panels, and a block of queries over the keys that it sees.
#pragma once

#include "model/softmax.h"

namespace minform {
namespace MINFORM_ISA {

constexpr int64_t kQueries = 48;

template <class T>
inline T attentionScale(const HeadShape& shape) {
  return static_cast<T>(1 / ::sqrt(static_cast<double>(shape.headDim)));
}

// right(k, j) = source[j * stride + k] for `rows` rows of `width` elements, in panels; rows past them are 0.
template <class T>
inline void panelsOfRows(const T* source, int64_t stride, int64_t rows, int64_t padded, int64_t width, T* panels) {
  for (int64_t j = 0; j < padded; j += kPanel<T>) {
    panelFromRows(source + j * stride, stride, clamped<int64_t>(rows - j, 0, kPanel<T>), width, panels + j * width);
  }
}

// right(k, j) = source[k * stride + j]; a panel has `capacity` rows.
template <class T>
inline void panelsOfColumns(const T* source, int64_t stride, int64_t rows, int64_t capacity, int64_t width, T* panels) {
  for (int64_t j = 0; j < width; j += kPanel<T>) {
    T* panel = panels + j * capacity;
    panelFromColumns(source + j, stride, smaller(kPanel<T>, width - j), rows, panel);
    for (int64_t i = rows * kPanel<T>; i < capacity * kPanel<T>; i++) panel[i] = T(0);
  }
}

// Where the queries, keys and values of one key head and its query heads lie in projected tokens.
template <class T>
struct HeadRows {
  const HeadShape& shape;
  const T* qkv;
  int64_t kvHead;

  HeadRows(const HeadShape& shape, const T* qkv, int64_t kvHead) : shape(shape), qkv(qkv), kvHead(kvHead) {}

  const T* query(int64_t g, int64_t token) const {
    return qkv + token * shape.width() + (kvHead * (shape.heads / shape.kvHeads) + g) * shape.headDim;
  }
  const T* key(int64_t token) const { return qkv + token * shape.width() + shape.queries() + kvHead * shape.headDim; }
  const T* value(int64_t token) const { return key(token) + shape.keys(); }

  void packKeys(int64_t length, T* panels) const {
    panelsOfRows(key(0), shape.width(), length, panelEnd<T>(length), shape.headDim, panels);
  }
  void packValues(int64_t length, T* panels) const {
    panelsOfColumns(value(0), shape.width(), length, panelEnd<T>(length), shape.headDim, panels);
  }
};

// Queries [first, first + queries) and the keys [from, from + keys) that any of them sees, in whole panels.
template <class T>
struct QueryBlock {
  int64_t first, queries, from, keys;

  QueryBlock(int64_t first, int64_t length, int64_t window)
      : first(first),
        queries(smaller(kQueries, length - first)),
        from(panelStart<T>(firstSeen(first, window))),
        keys(panelEnd<T>(first + queries) - from) {}

  // out[query, keys] = rows of `left` times the keys of the panels.
  void scores(const HeadShape& shape, const T* left, int64_t stride, const T* keyPanels, T* out) const {
    multiplyBlock<T>(
        {left, stride, queries, keys, shape.headDim, keyPanels + from * shape.headDim, nullptr, 0, out, keys});
  }

  // out[query, width] = weights[query, keys] times rows of panels that hold `capacity` rows each. Depth is cut at
  // multiples of kDepth counted from key 0.
  void times(const T* weights, const T* panels, int64_t capacity, int64_t width, T* out, int64_t outStride) const {
    for (int64_t column = 0; column < width; column += kPanel<T>) {
      Block<T> block{};
      block.leftStride = keys;
      block.rows = queries;
      block.columns = smaller(kPanel<T>, width - column);
      block.out = out + column;
      block.outStride = outStride;
      for (int64_t key = from; key < from + keys; key += block.depth) {
        block.depth = smaller(from + keys, (key / kDepth + 1) * kDepth) - key;
        block.left = weights + (key - from);
        block.panels = panels + column * capacity + key * kPanel<T>;
        multiplyBlock(block);
        block.start = block.out;
        block.startStride = outStride;
      }
    }
  }
};

}  // namespace MINFORM_ISA
}  // namespace minform
