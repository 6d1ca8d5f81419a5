// Matrix products on packed blocks, for kernels that tile a larger product themselves.
//
// A product of `rows` x `depth` by `depth` x `columns` takes its left operand as rows of at most kDepth elements at the
// fixed stride kLeftStride, and its right operand as panels of kPanel columns, each [depth][kPanel]. Every form of
// product is a choice of packing: from row-major sources,
//   A B^T   leftFromRows(A), panelsFromRows(B)         logits = hidden weight^T
//   A B     leftFromRows(A), panelsFromColumns(B)      gradHidden = D weight
//   A^T B   leftFromColumns(A), panelsFromColumns(B)   gradWeight = D^T hidden
//
// An element of the result is the sum of its products in order of depth, in T, fused multiply-add where the instruction
// set has it; a product deeper than kDepth adds its blocks in order. So float32 is within (kDepth + blocks) 2^-24
// sum |a b| of the exact sum, and its bits depend on nothing but the row of A, the column of B and the ISA level.
#pragma once

#include "elements.h"
#include "vectors.h"

namespace minform {
namespace MINFORM_ISA {

constexpr int64_t kDepth = 256;
constexpr int64_t kLeftStride = kDepth + 16;  // rows a power of two apart would compete for the same cache lines

constexpr int64_t kTileRows = 6;

template <class T>
constexpr int64_t kPanel = 2 * kVectorBytes / static_cast<int64_t>(sizeof(T));

template <class T>
constexpr int64_t panelsOf(int64_t columns) {
  return (columns + kPanel<T> - 1) / kPanel<T>;
}

// Elements that `columns` columns take as panels.
template <class T>
constexpr int64_t panelElements(int64_t depth, int64_t columns) {
  return panelsOf<T>(columns) * kPanel<T> * depth;
}

// left(i, k) = source[firstRow + i][firstColumn + k].
template <class T>
void leftFromRows(const Matrix& source, int64_t firstRow, int64_t rows, int64_t firstColumn, int64_t depth, T* left);

// left(i, k) = source[k * stride + i].
template <class T>
void leftFromColumns(const T* source, int64_t stride, int64_t rows, int64_t depth, T* left);

// right(k, j) = source[firstRow + j][firstColumn + k]; columns past `columns` are 0.
template <class T>
void panelsFromRows(const Matrix& source, int64_t firstRow, int64_t columns, int64_t firstColumn, int64_t depth,
                    T* panels);

// right(k, j) = source[firstRow + k][j] for all columns of the source; past them 0.
template <class T>
void panelsFromColumns(const Matrix& source, int64_t firstRow, int64_t depth, T* panels);

// One panel from a source in T: right(k, j) = source[j * stride + k], or source[k * stride + j]; columns past `columns`
// are 0.
template <class T>
void panelFromRows(const T* source, int64_t stride, int64_t columns, int64_t depth, T* panel);
template <class T>
void panelFromColumns(const T* source, int64_t stride, int64_t columns, int64_t depth, T* panel);

// An interleaved left operand: left(i, k) = source[k * stride + i] as tiles of kTileRows rows, [k][row].
template <class T>
void interleaveColumns(const T* source, int64_t stride, int64_t rows, int64_t depth, T* left);

// One block of a product: out(i, j) = start(i, j) + sum_k left(i, k) right(k, j).
template <class T>
struct Block {
  const T* left;       // left(i, k) = left[i * leftStride + k]; interleaved: tiles of kTileRows rows, [k][row]
  int64_t leftStride;  // elements between rows; 0 for an interleaved left operand
  int64_t rows, columns, depth;
  const T* panels;
  const T* start;  // row i starts at start[i * startStride]; null is 0. `out` itself accumulates.
  int64_t startStride;
  T* out;
  int64_t outStride;
};

template <class T>
void multiplyBlock(const Block<T>& block);

}  // namespace MINFORM_ISA
}  // namespace minform
