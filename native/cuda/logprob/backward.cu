// Gradient with respect to the logits, a block per tile: with p = exp(z - logSumExp), over the temperature,
//   g_logProb (e_target - p) - g_entropy p (log p + H) = e_target g_logProb + p (a + b log p).
// A thread per row then checks that the probabilities add up to 1.
#include "minform/cuda/logprob.h"

#include <type_traits>

#include "partial.h"
#include "tiles.h"

namespace minform::cuda {
namespace {

// The gradient of one row. Off the target it is p * (constant + slope * log p), log p = (x - offset) / T.
struct RowGradient {
  double entropy, gradLogProb, gradEntropy, inverseTemperature, offset, constant, slope;

  __device__ __forceinline__ double at(double logit, double& probability) const {
    const double y = (logit - offset) * inverseTemperature, p = exp(y);
    probability += p;
    return p == 0 ? 0.0 : p * (constant + slope * y) + 0.0;
  }

  __device__ __forceinline__ double atTarget(double logit) const {
    if (logit == -HUGE_VAL) return 0;
    const double y = (logit - offset) * inverseTemperature, p = exp(y);
    const double fromEntropy = p == 0 ? 0 : p * (y + entropy);
    return (-gradLogProb * expm1(y) - gradEntropy * fromEntropy) * inverseTemperature + 0.0;
  }

  __device__ __forceinline__ bool finite() const { return constant - constant == 0 && slope - slope == 0; }
};

// RowGradient::at in float32. `offset` is split in two so that x - offset loses nothing.
struct FloatGradient {
  float high, low, factor, constant, slope;

  __device__ __forceinline__ explicit FloatGradient(const RowGradient& g)
      : high(static_cast<float>(g.offset)),
        low(static_cast<float>(g.offset - high)),
        factor(static_cast<float>(g.inverseTemperature * kLog2e)),
        constant(static_cast<float>(g.constant)),
        slope(static_cast<float>(g.slope / kLog2e)) {}

  __device__ __forceinline__ float at(float x, float& probability) const {
    // A probability above 2 is of a logSumExp that is not this row's: the sum of the probabilities shows it.
    const float exact = ((x - high) - low) * factor, y = exact > 1.0f ? 1.0f : exact;
    const float p = y < kLowestLog2 ? 0.0f : fastExp2(y);
    probability += p;
    return p * fmaf(fmaxf(y, kLowestLog2), slope, constant) + 0.0f;  // + 0 turns -0 into +0
  }
};

template <class T>
struct Upstream {
  Global<const double> logSumExp;
  Global<const T> entropy, gradLogProbs, gradEntropy;
  double temperature;

  explicit Upstream(const LogProbGradients<T>& in, double temperature)
      : logSumExp(in.logSumExp),
        entropy(in.entropy),
        gradLogProbs(in.gradLogProbs),
        gradEntropy(in.gradEntropy),
        temperature(temperature) {}

  __device__ __forceinline__ RowGradient of(int64_t row) const {
    RowGradient g{};
    g.inverseTemperature = 1 / temperature;
    g.gradLogProb = static_cast<double>(gradLogProbs[row]);
    if (gradEntropy != nullptr) {
      g.entropy = static_cast<double>(entropy[row]);
      g.gradEntropy = static_cast<double>(gradEntropy[row]);
    }
    g.offset = logSumExp[row] * temperature;
    g.constant = -(g.gradLogProb + g.gradEntropy * g.entropy) * g.inverseTemperature;
    g.slope = -g.gradEntropy * g.inverseTemperature;
    return g;
  }
};

// The output may be the input: each thread has read its elements before it writes them.
template <class T, class Element>
struct SpreadTile {
  static constexpr int kThreads = kTileThreads;
  Tiles<Element> tiles;
  Global<const Element> logits;
  Global<const int32_t> targets;
  Upstream<T> upstream;
  bool alignedOut;
  Global<Element> gradLogits;
  Global<double> probabilities;  // per tile, their sum

  __device__ __forceinline__ void spread(const RowGradient& g, int64_t target, const Pack<Element>& from,
                                         int64_t column, Pack<Element>& to, double& sum) const {
    if constexpr (sizeof(T) == sizeof(double)) {
#pragma unroll
      for (int i = 0; i < Pack<Element>::kSize; i++) to.at[i] = g.at(from.at[i], sum);
    } else {
      const FloatGradient floats(g);
      float probability = 0;
#pragma unroll
      for (int i = 0; i < Pack<Element>::kSize; i++) narrow(floats.at(widen(from.at[i]), probability), to.at[i]);
      sum += probability;
    }
    if (target < column || target >= column + Pack<Element>::kSize) return;
#pragma unroll
    for (int i = 0; i < Pack<Element>::kSize; i++) {
      if (column + i == target) narrow(g.atTarget(widen(from.at[i])), to.at[i]);
    }
  }

  __device__ void operator()() const {
    const int64_t row = tiles.row(), start = row * tiles.columns, target = targets[row];
    const RowGradient g = upstream.of(row);
    double sums[1] = {};
#pragma unroll
    for (int p = 0; p < kPacks; p++) {
      const int64_t column = tiles.column(p);
      if (column >= tiles.columns) break;
      Pack<Element> to;
      spread(g, target, readPack(logits, start + column, start + tiles.columns, tiles.aligned, lowest<Element>()),
             column, to, sums[0]);
      writePack(gradLogits, start + column, start + tiles.columns, alignedOut, to);
    }
    blockReduce(sums, Sum());
    if (threadIdx.x == 0) probabilities[blockIdx.x] = sums[0];
  }
};

template <class T>
struct CheckRow {
  static constexpr int kThreads = 128;
  int64_t rows, tilesPerRow;
  Upstream<T> upstream;
  Global<const double> probabilities;
  Global<int64_t> status;

  __device__ void operator()() const {
    const int64_t row = elementOfThread();
    if (row >= rows) return;
    double sum = 0;
    for (int64_t tile = 0; tile < tilesPerRow; tile++) sum += probabilities[row * tilesPerRow + tile];
    if (!(sum > 0.99 && sum < 1.01 && upstream.of(row).finite())) reportBad(status, row);
  }
};

}  // namespace

template <class T>
void logProbBackward(const Matrix& logits, const int32_t* targets, double temperature, const LogProbGradients<T>& in,
                     void* gradLogits, int64_t* status, Stream stream) {
  resetStatus(status, stream);
  withElement<T>(logits.element, [&](auto kind) {
    using Element = std::remove_const_t<std::remove_pointer_t<decltype(kind)>>;
    const Tiles<Element> tiles(logits);
    const Upstream<T> upstream(in, temperature);
    const Buffer<double> probabilities(tiles.rows * tiles.perRow, stream);
    const bool alignedOut = tiles.aligned && reinterpret_cast<uintptr_t>(gradLogits) % 16 == 0;
    launch(SpreadTile<T, Element>{tiles, static_cast<const Element*>(logits.data), targets, upstream, alignedOut,
                                  static_cast<Element*>(gradLogits), probabilities.get()},
           tiles.shape(), stream);
    launch(CheckRow<T>{tiles.rows, tiles.perRow, upstream, probabilities.get(), status},
           threadPerElement(tiles.rows, CheckRow<T>::kThreads), stream);
  });
}

template void logProbBackward(const Matrix&, const int32_t*, double, const LogProbGradients<float>&, void*, int64_t*,
                              Stream);
template void logProbBackward(const Matrix&, const int32_t*, double, const LogProbGradients<double>&, void*, int64_t*,
                              Stream);

}  // namespace minform::cuda
