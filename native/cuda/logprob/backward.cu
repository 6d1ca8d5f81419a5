// Gradient with respect to the logits (gradient.h), a block per tile. A thread per row then checks that the
// probabilities add up to 1.
#include "minform/cuda/logprob.h"

#include <type_traits>

#include "gradient.h"
#include "tiles.h"

namespace minform::cuda {
namespace {

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

  __device__ void operator()() const {
    const int64_t row = tiles.row(), start = row * tiles.columns, target = targets[row];
    const RowGradient g = upstream.of(row);
    double sums[1] = {};
#pragma unroll
    for (int p = 0; p < kPacks; p++) {
      const int64_t column = tiles.column(p);
      if (column >= tiles.columns) break;
      const Pack<Element> to =
          spreadPack<T>(g, readPack(logits, start + column, start + tiles.columns, tiles.aligned, lowest<Element>()),
                        column, target, sums[0]);
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
