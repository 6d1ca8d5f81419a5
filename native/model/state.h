// What an engine holds between calls.
#pragma once

#include <vector>

#include "arena.h"
#include "block.h"
#include "minform/model.h"

namespace minform {

// cos and sin by position, grown as longer sequences come.
template <class T>
class RotationTable {
 public:
  Rotation<T> upTo(const ModelShape& shape, int64_t positions);

 private:
  std::vector<T> cos_, sin_;
};

// The pass under way: its batch and what it kept.
template <class T>
struct Pass {
  std::vector<int32_t> ids, offsets, positions;
  Keep keep = Keep::nothing;
  std::vector<LayerActivations<T>> layers;
  const T* last = nullptr;  // after the last layer
  T* inverse = nullptr;     // of the last norm
  T* hidden = nullptr;      // after it
  T* dHidden = nullptr;     // null until something reads back
  bool open = false;

  int64_t tokens() const { return static_cast<int64_t>(ids.size()); }
  Rows sequences() const { return {offsets.data(), static_cast<int64_t>(offsets.size()) - 1}; }
};

template <class T>
struct Engine<T>::State {
  explicit State(ModelShape s) : shape(std::move(s)) {}

  ModelShape shape;
  Arena arena;
  RotationTable<T> rotation;
  Pass<T> pass;

  LayerContext<T> context(const LayerParameters<T>& layer, int64_t rows, const int32_t* positions, int64_t longest) {
    return {shape, layer, rows, positions, rotation.upTo(shape, longest), arena};
  }
  NormShape lastNorm(int64_t rows) const { return {rows, 1, shape.hidden, shape.hidden, shape.normEpsilon}; }
};

}  // namespace minform
