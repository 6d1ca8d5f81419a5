// The operations of a decoder of the Llama, Mistral, Qwen2 and Qwen3 family, forwards and backwards, over packed
// sequences: a batch is `tokens` rows, sequence i being the rows [offsets[i], offsets[i + 1]). No padding exists.
//
// Arithmetic is in T; sums of squares, softmax denominators and column sums accumulate in float64. Products follow
// cpu/gemm/gemm.h. The forward result of a token depends on nothing but the tokens before it in its sequence, the
// weights and the ISA level: neither on the other rows nor on the number of threads, and attention over a cache gives
// the bits of attention over the whole sequence. Gradients of weights sum over tokens in their order.
#pragma once

#include <cstdint>

#include "minform/ragged.h"

namespace minform {

// A projected token is [queries | keys | values], the heads of each next to each other.
struct HeadShape {
  int64_t heads, kvHeads, headDim;  // kvHeads divides heads; headDim is even and at most 256

  int64_t queries() const { return heads * headDim; }
  int64_t keys() const { return kvHeads * headDim; }
  int64_t width() const { return queries() + 2 * keys(); }
};

// y = x W^T.
template <class T>
struct LinearWeight {
  const T* data;  // [outputs, inputs]
  int64_t outputs, inputs;
  const T* packed;  // what `pack` made of it, or null
};

// Rows to be normalised: row j of token t is at t * stride + j * width.
struct NormShape {
  int64_t tokens, perToken, width, stride;
  double epsilon;
};

// cos and sin per position, headDim / 2 each.
template <class T>
struct Rotation {
  const T *cos, *sin;
};

// Keys and values of earlier tokens of some sequences in one layer, in the panels that the products read.
template <class T>
struct CacheView {
  T* const* slots;   // per row of the batch: keys and values of its sequence
  int64_t capacity;  // tokens per slot; a multiple of ModelKernels::panel
};

template <class T>
struct ModelKernels {
  int64_t panel;

  int64_t (*packedElements)(int64_t outputs, int64_t inputs);
  void (*pack)(const LinearWeight<T>& weight, T* packed);

  // y = start + x W^T. `start` null is 0; stride 0 adds one row to all (a bias); it may be y itself.
  void (*linear)(const T* x, int64_t rows, const LinearWeight<T>& weight, const T* start, int64_t startStride, T* y,
                 int64_t yStride);
  // dx (+)= dy W.
  void (*linearInputGradient)(const T* dy, int64_t dyStride, int64_t rows, const LinearWeight<T>& weight,
                              bool accumulate, T* dx);
  // dW += dy^T x.
  void (*linearWeightGradient)(const T* dy, int64_t dyStride, const T* x, int64_t rows, int64_t outputs, int64_t inputs,
                               T* dw);
  // sums[j] += sum over rows of values[row * columns + j].
  void (*addColumnSums)(const T* values, int64_t rows, int64_t columns, T* sums);

  // y = x / rms(x) * weight with rms(x)^2 = mean of squares + epsilon; inverse (or null) gets 1 / rms per row. y has
  // the layout of x, and may be x.
  void (*rmsNorm)(const NormShape& shape, const T* x, const T* weight, T* y, T* inverse);
  // dx = (dx +) gradient of the row; dWeight (or null) += its sum over the rows. dy has the layout of x and may be dx.
  void (*rmsNormBackward)(const NormShape& shape, const T* dy, const T* x, const T* weight, const T* inverse,
                          bool accumulate, T* dx, T* dWeight);

  // Rotates the first `heads` heads of each token (queries and keys) by its position, or back.
  void (*rotate)(T* tokens, int64_t count, int64_t stride, int64_t heads, int64_t headDim, const int32_t* positions,
                 const Rotation<T>& rotation, bool back);

  // out[token, heads * headDim] = softmax(q k / sqrt(headDim)) v over the last `window` tokens (0: all) of the
  // sequence up to the token itself. logSum (or null) gets the log of the softmax denominator, [token, heads].
  void (*attention)(const HeadShape& shape, const Rows& sequences, int64_t window, const T* qkv, T* out, T* logSum);
  void (*attentionBackward)(const HeadShape& shape, const Rows& sequences, int64_t window, const T* qkv, const T* out,
                            const T* logSum, const T* dOut, T* dQkv);

  int64_t (*cacheElements)(const HeadShape& shape, int64_t capacity);  // of one slot
  // Keys and values of token rows `qkv` go to their slots at their positions.
  void (*cacheStore)(const HeadShape& shape, int64_t rows, const T* qkv, const int32_t* positions,
                     const CacheView<T>& cache);
  // As attention for one token per sequence, whose keys and values have been stored.
  void (*cachedAttention)(const HeadShape& shape, int64_t rows, int64_t window, const T* qkv, const int32_t* positions,
                          const CacheView<T>& cache, T* out);

  // gateUp is [gate | up] per row: out = silu(gate) * up.
  void (*swiGlu)(const T* gateUp, int64_t rows, int64_t inner, T* out);
  void (*swiGluBackward)(const T* gateUp, const T* dOut, int64_t rows, int64_t inner, T* dGateUp);
  // In place: x = max(x, 0); dx = 0 where y <= 0.
  void (*relu)(T* x, int64_t count);
  void (*reluBackward)(const T* y, int64_t count, T* dx);

  // out[i] = table[index[i]], and table[index[i]] += rows[i] in order of i.
  void (*gatherRows)(const T* table, const int32_t* index, int64_t count, int64_t width, T* out);
  void (*scatterAddRows)(const T* rows, const int32_t* index, int64_t count, int64_t width, T* table);
};

template <class T>
const ModelKernels<T>& modelKernels();

}  // namespace minform
