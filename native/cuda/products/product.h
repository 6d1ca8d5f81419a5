// Matrix products of any storage order, summed in a fixed order: out[i][j] (+)= scale * sum_k a(i, k) b(k, j).
//
// float64 is float64 throughout. float32, and operands of different types, are multiplied and added in float32 (no
// TF32): blocks of 256 products in order of k, fused, then the blocks in order, so within (256 + blocks) 2^-24 sum |a
// b|. bfloat16 or float16 on both sides go through the tensor cores: exact products, added in float32, 16 at a time in
// order of k and with the hardware's own rounding, within (depth / 16 + 2) 2^-22 sum |a b|. Each element's bits then
// depend on its row of a and column of b alone, unless `split`. With cuBLASLt the bounds are alike, but the bits depend
// on all sizes.
#pragma once

#include "launch.h"
#include "minform/cuda/logprob.h"
#include "minform/matrix.h"

namespace minform::cuda {

struct Operand {
  const void* data;
  Element element;
  int64_t leading;       // elements from one line to the next
  bool depthContiguous;  // a line holds all k of a row of a or column of b; else all rows or columns of one k
  bool packs;  // lines start on 16 bytes and can be read up to a multiple of 16 bytes, zeros from their end on
};

template <class T>
struct Product {
  int64_t rows, columns, depth;
  Operand a, b;
  T* out;
  int64_t leading;
  bool accumulate;
  bool split;          // the depth may be cut between blocks
  const float* scale;  // of narrow operands, on the device: {scale, 0, 1}; null for 1
};

template <class T>
void multiply(const Product<T>& product, Stream stream);

// Lines [first, ...) of a matrix, along the depth or across it.
Operand linesOf(const Matrix& matrix, int64_t first, bool depthContiguous);

inline int64_t bytesOf(Element element) {
  return element == Element::float64 ? 8 : element == Element::float32 ? 4 : 2;
}

// The three ways. A way that declines has done nothing.
template <class T>
bool multiplyByLibrary(const Product<T>& product, Stream stream);
bool multiplyOnTensorCores(const Product<float>& product, Stream stream);
template <class T>
void multiplyPlainly(const Product<T>& product, Stream stream);

}  // namespace minform::cuda
