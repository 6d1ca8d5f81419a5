// Block-wise quantisation of weights: 32 neighbours of a row share a scale, x ~ scale (q - 2^(bits - 1)).
//
// Arithmetic: in T. The scale is -e / 2^(bits - 1), rounded to float32, with e the value of largest magnitude of the
// block and its sign (the negative one of a pair), so that e itself gets q = 0, the end that reaches further; q is
// x / scale rounded to the nearest integer, ties to even, plus 2^(bits - 1), cut off at 2^bits - 1. A block of zeros
// has scale 0. Every block is computed by itself: same bits for every thread count and ISA level.
#pragma once

#include <cstdint>

#include "minform/matrix.h"
#include "minform/pool.h"
#include "minform/ragged.h"

namespace minform {

constexpr int64_t kQuantBlock = 32;

// Blocks of a row of `columns` weights; the last one may be short.
constexpr int64_t quantBlocks(int64_t columns) { return (columns + kQuantBlock - 1) / kQuantBlock; }

struct QuantizedRows {
  int bits;         // 4 or 8
  uint8_t* packed;  // [rows, blocks, 32 bits / 8], the lower half of a byte first; what a short block lacks reads as 0
  float* scales;    // [rows, blocks]
};

template <class T>
struct QuantKernels {
  // Weights of a type that T holds. Returns the flat index of the first weight that is NaN or infinite, or kOk.
  int64_t (*quantizeRows)(const Matrix& weights, const QuantizedRows& out, const CancelFlag& cancelled);
};

template <class T>
const QuantKernels<T>& quant();

}  // namespace minform
