// A small random decoder for the tests.
#pragma once

#include <cmath>
#include <vector>

#include "minform/model.h"

namespace minform {

struct ToyOptions {
  int64_t heads = 4, kvHeads = 2, headDim = 10, hidden = 24, inner = 36, vocabulary = 23;
  std::vector<int64_t> windows{0, 7};
  bool biases = true, headNorms = true;
  int64_t adapterRank = 0;
};

// Values of a formula: the same on every machine.
template <class T>
class Numbers {
 public:
  std::vector<T> take(int64_t count, double scale, double mean = 0) {
    std::vector<T> values(static_cast<size_t>(count));
    for (T& value : values) {
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      value = static_cast<T>(mean + scale * (static_cast<double>(state_ >> 33) / 1073741824.0 - 1));
    }
    return values;
  }

 private:
  uint64_t state_ = 1;
};

// Parameters, their gradients and an engine. Tensors are kept in the order in which they were made.
template <class T>
struct Toy {
  explicit Toy(const ToyOptions& options = {}) : shape(shapeOf(options)), engine(shape), options(options) {
    parameters.layers.resize(options.windows.size());
    const HeadShape& h = shape.heads;
    parameters.embedding = add(shape.vocabulary * shape.hidden, 1);
    for (LayerParameters<T>& layer : parameters.layers) {
      layer.attentionNorm.weight = add(shape.hidden, .3, 1);
      projection(layer.qkv, h.width(), shape.hidden);
      if (shape.headNorms) {
        layer.queryNorm.weight = add(h.headDim, .3, 1);
        layer.keyNorm.weight = add(h.headDim, .3, 1);
      }
      projection(layer.output, shape.hidden, h.queries());
      layer.mlpNorm.weight = add(shape.hidden, .3, 1);
      projection(layer.gateUp, 2 * shape.inner, shape.hidden);
      projection(layer.down, shape.hidden, shape.inner);
    }
    parameters.norm.weight = add(shape.hidden, .3, 1);
    head = {add(shape.vocabulary * shape.hidden, .5), shape.vocabulary, shape.hidden, nullptr};
    for (const auto& tensor : tensors) grads.emplace_back(tensor.size(), T(0));
    link();
  }

  T* gradOf(const T* tensor) {
    for (size_t i = 0; i < tensors.size(); i++)
      if (tensors[i].data() == tensor) return grads[i].data();
    return nullptr;
  }

  ModelShape shape;
  std::vector<std::vector<T>> tensors, grads;
  Parameters<T> parameters;
  LinearWeight<T> head;
  Engine<T> engine;
  ToyOptions options;

 private:
  static ModelShape shapeOf(const ToyOptions& o) {
    ModelShape shape{o.vocabulary, o.hidden, o.inner, {o.heads, o.kvHeads, o.headDim}, 1e-6, o.headNorms,
                     o.windows,    {},       1};
    for (int64_t i = 0; i < o.headDim / 2; i++)
      shape.frequencies.push_back(
          static_cast<float>(std::pow(100., -2. * static_cast<double>(i) / static_cast<double>(o.headDim))));
    return shape;
  }

  const T* add(int64_t count, double scale, double mean = 0) {
    tensors.push_back(numbers_.take(count, scale, mean));
    return tensors.back().data();
  }

  void projection(Projection<T>& p, int64_t outputs, int64_t inputs) {
    p.weight = {add(outputs * inputs, 1.7 / std::sqrt(static_cast<double>(inputs))), outputs, inputs, nullptr};
    if (options.biases) p.bias = add(outputs, .2);
    if (options.adapterRank == 0) return;
    const int64_t first = outputs / 4, rank = options.adapterRank;
    const T* down = add(rank * inputs, .3);
    p.adapters.push_back({first, outputs - first, rank, .7, down, add((outputs - first) * rank, .3), nullptr, nullptr});
  }

  void link() {
    parameters.gradEmbedding = gradOf(parameters.embedding);
    parameters.norm.grad = gradOf(parameters.norm.weight);
    for (LayerParameters<T>& layer : parameters.layers) {
      for (Norm<T>* norm : {&layer.attentionNorm, &layer.queryNorm, &layer.keyNorm, &layer.mlpNorm})
        norm->grad = norm->weight == nullptr ? nullptr : gradOf(norm->weight);
      for (Projection<T>* p : {&layer.qkv, &layer.output, &layer.gateUp, &layer.down}) {
        p->gradWeight = gradOf(p->weight.data);
        if (p->bias != nullptr) p->gradBias = gradOf(p->bias);
        for (Adapter<T>& adapter : p->adapters) {
          adapter.gradDown = gradOf(adapter.down);
          adapter.gradUp = gradOf(adapter.up);
        }
      }
    }
  }

  Numbers<T> numbers_;
};

}  // namespace minform
