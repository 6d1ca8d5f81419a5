// Log-probs, entropy, logsumexp and sum p^2 of rows of logits, reading each logit once: a block per tile finds the
// tile's maximum and its sums, a thread per row merges the tiles in order.
#include "minform/cuda/logprob.h"

#include <type_traits>

#include "results.h"
#include "scan.h"
#include "tiles.h"

namespace minform::cuda {
namespace {

template <class Element, bool Squares>
struct ScanTile {
  static constexpr int kThreads = kTileThreads;
  Tiles<Element> tiles;
  Global<const Element> logits;
  Global<Partial> partials;
  TileScan<Element, Squares> scan;

  __device__ void operator()() const {
    const int64_t start = tiles.row() * tiles.columns;
    Pack<Element> packs[kPacks];
#pragma unroll
    for (int p = 0; p < kPacks; p++) {
      packs[p] = readPack(logits, start + tiles.column(p), start + tiles.columns, tiles.aligned, lowest<Element>());
    }
    const Partial partial = scan.of(packs);
    if (threadIdx.x == 0) partials[blockIdx.x] = partial;
  }
};

template <class T, class Element>
struct FinishRow {
  static constexpr int kThreads = 128;
  int64_t rows, columns, tilesPerRow;
  Global<const Element> logits;
  Global<const int32_t> targets;
  Global<const Partial> partials;
  double inverseTemperature;
  RowResults<T> results;

  __device__ void operator()() const {
    const int64_t row = elementOfThread();
    if (row >= rows) return;
    Partial whole = partials[row * tilesPerRow];
    for (int64_t tile = 1; tile < tilesPerRow; tile++)
      whole.merge(partials[row * tilesPerRow + tile], inverseTemperature);
    const int32_t column = targets[row];
    if (column < 0 || column >= columns) {
      reportBad(results.status, row);
      return;
    }
    results.write(row, whole, widen(logits[row * columns + column]), inverseTemperature);
  }
};

}  // namespace

template <class T>
void logProbForward(const Matrix& logits, const int32_t* targets, double temperature, const LogProbOutput<T>& out,
                    int64_t* status, Stream stream) {
  resetStatus(status, stream);
  withElement<T>(logits.element, [&](auto kind) {
    using Element = std::remove_const_t<std::remove_pointer_t<decltype(kind)>>;
    const Element* data = static_cast<const Element*>(logits.data);
    const double inverse = 1 / temperature;
    const Tiles<Element> tiles(logits);
    const Buffer<Partial> partials(tiles.rows * tiles.perRow, stream);
    if (out.sumSquaredProbs != nullptr) {
      launch(ScanTile<Element, true>{tiles, data, partials.get(), TileScan<Element, true>(inverse)}, tiles.shape(),
             stream);
    } else {
      launch(ScanTile<Element, false>{tiles, data, partials.get(), TileScan<Element, false>(inverse)}, tiles.shape(),
             stream);
    }
    using Finish = FinishRow<T, Element>;
    launch(Finish{tiles.rows, tiles.columns, tiles.perRow, data, targets, partials.get(), inverse,
                  RowResults<T>(out, status)},
           threadPerElement(tiles.rows, Finish::kThreads), stream);
  });
}

template void logProbForward(const Matrix&, const int32_t*, double, const LogProbOutput<float>&, int64_t*, Stream);
template void logProbForward(const Matrix&, const int32_t*, double, const LogProbOutput<double>&, int64_t*, Stream);

}  // namespace minform::cuda
