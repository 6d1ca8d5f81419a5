// Log-probs, entropy, logsumexp and sum p^2 of rows of logits, reading each logit once: a block per tile finds the
// tile's maximum and its sums, a thread per row merges the tiles in order.
#include "minform/cuda/logprob.h"

#include <type_traits>

#include "partial.h"
#include "tiles.h"

namespace minform::cuda {
namespace {

template <class Element, bool Squares>
struct ScanTile {
  static constexpr int kThreads = kTileThreads;
  using Real = Wide<Element>;
  Tiles<Element> tiles;
  Global<const Element> logits;
  Global<Partial> partials;
  BaseTwo units;
  double inverseTemperature;

  struct Terms {
    Real sum = 0, weighted = 0, squares = 0;
  };

  __device__ __forceinline__ void add(float x, float max, Terms& to) const {
    const float y = (x - max) * units.factor, e = fastExp2(y);
    to.sum += e;
    to.weighted = fmaf(e, fmaxf(y, kLowestLog2), to.weighted);  // y may be -Infinity where e is 0
    if (Squares) to.squares = fmaf(e, e, to.squares);
  }
  __device__ __forceinline__ void add(double x, double max, Terms& to) const {
    const double y = (x - max) * inverseTemperature, e = exp(y);
    to.sum += e;
    to.weighted += e == 0 ? 0 : e * y;
    if (Squares) to.squares += e * e;
  }

  __device__ __forceinline__ Partial partial(float max, const double (&sums)[3]) const {
    const double natural = sums[1] * units.toNatural;
    // 2^(y * factor) is exp(y (1 + drift)): taken out of the sum to first order.
    return {max, sums[0] - units.drift * natural, natural, sums[2]};
  }
  __device__ __forceinline__ Partial partial(double max, const double (&sums)[3]) const {
    return {max, sums[0], sums[1], sums[2]};
  }

  __device__ void operator()() const {
    const int64_t start = tiles.row() * tiles.columns;
    Pack<Element> packs[kPacks];
    Real max[1] = {sizeof(Real) == sizeof(float) ? static_cast<Real>(-FLT_MAX) : static_cast<Real>(-DBL_MAX)};
#pragma unroll
    for (int p = 0; p < kPacks; p++) {
      packs[p] = readPack(logits, start + tiles.column(p), start + tiles.columns, tiles.aligned, lowest<Element>());
    }
#pragma unroll
    for (int p = 0; p < kPacks; p++) {
#pragma unroll
      for (int i = 0; i < Pack<Element>::kSize; i++) max[0] = larger(max[0], widen(packs[p].at[i]));
    }
    blockReduce(max, Greatest());

    double sums[3] = {};
#pragma unroll
    for (int p = 0; p < kPacks; p++) {
      Terms terms;  // at most 8 in float32 before they are added in float64
#pragma unroll
      for (int i = 0; i < Pack<Element>::kSize; i++) add(widen(packs[p].at[i]), max[0], terms);
      sums[0] += terms.sum;
      sums[1] += terms.weighted;
      if (Squares) sums[2] += terms.squares;
    }
    blockReduce(sums, Sum());
    if (threadIdx.x == 0) partials[blockIdx.x] = partial(max[0], sums);
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
  Global<T> logProbs, entropy, sumSquaredProbs;
  Global<double> logSumExp;
  Global<int64_t> status;

  __device__ void operator()() const {
    const int64_t row = elementOfThread();
    if (row >= rows) return;
    Partial whole = partials[row * tilesPerRow];
    for (int64_t tile = 1; tile < tilesPerRow; tile++)
      whole.merge(partials[row * tilesPerRow + tile], inverseTemperature);
    const int32_t column = targets[row];
    if (!(whole.sum > 0) || column < 0 || column >= columns) {
      reportBad(status, row);
      return;
    }
    const double target = widen(logits[row * columns + column]), logSum = log(whole.sum);
    logSumExp[row] = whole.max * inverseTemperature + logSum;
    // + 0.0: a certain token has log-prob and entropy +0.
    logProbs[row] = static_cast<T>((target - whole.max) * inverseTemperature - logSum + 0.0);
    if (entropy != nullptr) entropy[row] = static_cast<T>(larger(0.0, logSum - whole.weighted / whole.sum));
    if (sumSquaredProbs != nullptr) sumSquaredProbs[row] = static_cast<T>(whole.squares / (whole.sum * whole.sum));
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
      launch(ScanTile<Element, true>{tiles, data, partials.get(), BaseTwo(inverse), inverse}, tiles.shape(), stream);
    } else {
      launch(ScanTile<Element, false>{tiles, data, partials.get(), BaseTwo(inverse), inverse}, tiles.shape(), stream);
    }
    using Finish = FinishRow<T, Element>;
    launch(Finish{tiles.rows, tiles.columns, tiles.perRow, data, targets, partials.get(), inverse, out.logProbs,
                  out.entropy, out.sumSquaredProbs, out.logSumExp, status},
           threadPerElement(tiles.rows, Finish::kThreads), stream);
  });
}

template void logProbForward(const Matrix&, const int32_t*, double, const LogProbOutput<float>&, int64_t*, Stream);
template void logProbForward(const Matrix&, const int32_t*, double, const LogProbOutput<double>&, int64_t*, Stream);

}  // namespace minform::cuda
