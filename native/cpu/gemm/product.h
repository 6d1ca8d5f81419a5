// Whole matrix products on the pool, for operands in memory. The bits of an element are those of gemm.h: they depend on
// neither the number of threads nor the other rows.
#pragma once

#include "gemm/gemm.h"

namespace minform {
namespace MINFORM_ISA {

// A row-major matrix, or the transpose of one.
template <class T>
struct Operand {
  const T* data;
  int64_t stride;   // elements between the rows as stored
  bool transposed;  // element (i, j) is data[j * stride + i] instead of data[i * stride + j]

  const T* at(int64_t i, int64_t j) const { return data + (transposed ? j * stride + i : i * stride + j); }
};

// The right operand in the form that the inner kernel reads: blocks of kDepth rows, each in panels.
template <class T>
inline int64_t packedElements(int64_t depth, int64_t columns) {
  return panelElements<T>(depth, columns);
}

template <class T>
void packRight(const Operand<T>& right, int64_t depth, int64_t columns, T* packed);

// out = start + left right, [rows, columns] of depth `depth`.
template <class T>
struct Product {
  int64_t rows, columns, depth;
  Operand<T> left;
  const T* start;       // null is 0; `out` itself accumulates
  int64_t startStride;  // 0 adds the same row to all
  T* out;
  int64_t outStride;
};

// With a right operand that packRight made.
template <class T>
void multiplyPacked(const Product<T>& product, const T* packed);

template <class T>
void multiply(const Product<T>& product, const Operand<T>& right);

}  // namespace MINFORM_ISA
}  // namespace minform
