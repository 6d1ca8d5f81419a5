// Arguments of the model family: engines, batches of ids and lists of parameter arrays.
#pragma once

#include <memory>
#include <vector>

#include "args.h"
#include "minform/model.h"

namespace minform {

using EngineHandle = std::shared_ptr<Engine<float>>;
// Copies: an index that changed after its check would be read through.
using Indices = std::shared_ptr<const std::vector<int32_t>>;

EngineHandle engineOf(const Args& args, size_t index);

// An integer in [1, 2^31).
int64_t extent(const Args& args, size_t index);

// Integers in [0, end).
Indices indices(const Args& args, size_t index, int64_t end = INT32_MAX);

// (ids, offsets) from `index` on.
class Sequences {
 public:
  Sequences(const Args& args, size_t index, int64_t vocabulary);
  Rows rows() const { return {offsets_->data(), static_cast<int64_t>(offsets_->size()) - 1}; }
  const int32_t* ids() const { return ids_->data(); }

 private:
  Indices ids_, offsets_;
};

// (tensors, gradients?, adapters, adapterScales, adapterTensors) from `index` on. The order of the tensors is
//   embedding, norm, then per layer: attentionNorm, qkv, qkvBias, output, outputBias, queryNorm, keyNorm, mlpNorm,
//   gateUp, gateUpBias, down, downBias
// with null for what the model does not have; gradients are null where none is wanted. An adapter is (layer,
// projection, firstOutput, outputs, rank), its tensors (down, up, gradDown?, gradUp?).
Parameters<float> parametersOf(const Args& args, size_t index, const ModelShape& shape);

// (first, firstBias?, second?, secondBias?, their gradients x4, inner, outputs) from `index` on; inner is the width
// between two layers.
ReadoutHead<float> readoutHead(const Args& args, size_t index, const ModelShape& shape);

// Inside a job: throws when the engine's pass does not allow it.
void requireReads(const Engine<float>& engine, const std::vector<int32_t>& reads);
void requireGradient(const Engine<float>& engine);

}  // namespace minform
