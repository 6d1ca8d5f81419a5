// A trainable decoder over packed sequences: forward, backward and generation, written on the operations of
// model_kernels.h. Nothing here does arithmetic on tokens itself.
//
// The caller owns parameters and gradients. The engine owns the activations of one pass at a time: forward, then any
// number of readers of the hidden states, then their gradients, then backward.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "minform/logprob.h"
#include "minform/model_kernels.h"
#include "minform/sampling.h"

namespace minform {

struct ModelShape {
  int64_t vocabulary, hidden, inner;
  HeadShape heads;
  double normEpsilon;
  bool headNorms;                  // queries and keys are normalised per head
  std::vector<int64_t> windows;    // per layer: tokens that a query sees, 0 for all
  std::vector<float> frequencies;  // radians per position, headDim / 2
  double magnitude;                // factor on cos and sin
};

// W += scale * up down for some outputs of a projection.
template <class T>
struct Adapter {
  int64_t firstOutput, outputs, rank;
  double scale;
  const T *down, *up;  // [rank, inputs], [outputs, rank]
  T *gradDown, *gradUp;
};

// y = x W^T + b. Gradients are added to; null where none is wanted.
template <class T>
struct Projection {
  LinearWeight<T> weight;
  const T* bias = nullptr;
  T *gradWeight = nullptr, *gradBias = nullptr;
  std::vector<Adapter<T>> adapters;
};

template <class T>
struct Norm {
  const T* weight = nullptr;
  T* grad = nullptr;
};

template <class T>
struct LayerParameters {
  Norm<T> attentionNorm, queryNorm, keyNorm, mlpNorm;
  Projection<T> qkv, output, gateUp, down;  // qkv is [queries | keys | values], gateUp is [gate | up]
};

template <class T>
struct Parameters {
  const T* embedding;  // [vocabulary, hidden]
  T* gradEmbedding;
  Norm<T> norm;
  std::vector<LayerParameters<T>> layers;
};

// What a pass keeps for its backward pass: nothing (there is none), the input of each layer (the rest is computed
// again), or all activations that are not cheap.
enum class Keep : int32_t { nothing = 0, inputs = 1, activations = 2 };

// A head on the hidden states: one linear layer, or two with a ReLU between.
template <class T>
struct ReadoutHead {
  Projection<T> first;
  Projection<T> second;  // second.weight.data null: one layer
};

template <class T>
struct Generation {
  Rows prompts;
  const int32_t* ids;
  int64_t rows;             // sequences to write
  const int32_t* promptOf;  // per row
  const int32_t* sampleOf;  // per row
  uint64_t seed;
  SamplingRule rule;
  const int32_t* stops;
  int64_t stopCount;
  int64_t maxTokens;  // per row
  int64_t batch;      // rows at a time
  LinearWeight<T> head;
  // Results, [rows, maxTokens] and [rows]. A token's log-prob is that of the whole distribution at the temperature (at
  // 1 for temperature 0). Lengths start at 0 and grow while rows are written: another thread may read tokens up to
  // them.
  int32_t* tokens;
  T* logProbs;
  std::atomic<int32_t>* lengths;
  uint8_t* stopped;  // 1: the last token is one of stops
  // By row, or null. Another thread sets what is 0 to 1, and the row ends after the token under way.
  const std::atomic<uint8_t>* ended;
};

template <class T>
class Engine {
 public:
  explicit Engine(ModelShape shape);
  ~Engine();

  const ModelShape& shape() const;
  // Bytes of activations that are held, most of them for reuse.
  int64_t bytes() const;

  // All return kOk or the index of a bad row; kOk with incomplete output once `cancelled` is set.
  int64_t forward(const Parameters<T>& parameters, const Rows& sequences, const int32_t* ids, Keep keep,
                  const CancelFlag& cancelled);
  int64_t tokens() const;  // of the pass
  bool canGoBack() const;  // the pass kept what backward needs

  // Log-prob of a target after token reads[i] of the batch, as logprob.h.
  int64_t logProbs(const LinearWeight<T>& head, const int32_t* reads, const int32_t* targets, int64_t count,
                   double temperature, const LogProbOutput<T>& out, const CancelFlag& cancelled);
  // Adds to the gradient of the hidden states, and to gradHead unless null.
  int64_t logProbsBackward(const LinearWeight<T>& head, const int32_t* reads, const int32_t* targets, int64_t count,
                           double temperature, const LogProbGradients<T>& grads, T* gradHead,
                           const CancelFlag& cancelled);

  // out[count, outputs] = head(hidden[reads]).
  void readout(const ReadoutHead<T>& head, const int32_t* reads, int64_t count, T* out);
  void readoutBackward(const ReadoutHead<T>& head, const int32_t* reads, int64_t count, const T* gradOut);

  // Gradients of the hidden states to those of the parameters. Ends the pass.
  void backward(const Parameters<T>& parameters, const CancelFlag& cancelled);

  int64_t generate(const Parameters<T>& parameters, const Generation<T>& request, const CancelFlag& cancelled);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace minform
