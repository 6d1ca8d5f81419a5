// One pre-norm decoder layer: x += attention(norm(x)); x += mlp(norm(x)).
#pragma once

#include <functional>

#include "arena.h"
#include "minform/model.h"

namespace minform {

// What a layer computes on the way, [rows, ...] each; all of it is what its backward pass reads.
template <class T>
struct LayerActivations {
  const T* x;       // the input, owned by the layer before
  T* inverse;       // 1 / rms of x
  T* projected;     // queries, keys and values before their norms; qkv itself where there are none
  T* queryInverse;  // of the head norms, where there are some
  T* keyInverse;
  T* qkv;  // rotated
  T* logSum;
  T* attended;
  T* middle;  // after attention
  T* middleInverse;
  T* gateUp;

  static LayerActivations take(Arena& arena, const ModelShape& shape, int64_t rows);
};

// (qkv, attended, logSum): attention of these rows.
template <class T>
using Attend = std::function<void(const T*, T*, T*)>;

template <class T>
struct LayerContext {
  const ModelShape& shape;
  const LayerParameters<T>& parameters;
  int64_t rows;
  const int32_t* positions;
  Rotation<T> rotation;
  Arena& arena;
};

template <class T>
void layerForward(const LayerContext<T>& context, const Attend<T>& attend, LayerActivations<T>& activations, T* out);

// d is the gradient of the output, and becomes that of the input.
template <class T>
void layerBackward(const LayerContext<T>& context, const Rows& sequences, int64_t window,
                   const LayerActivations<T>& activations, T* d);

}  // namespace minform
