// Logits of a few hundred token positions against one tile of the vocabulary after another. A tile is held transposed,
// [vocabulary][position], so that its lanes are positions.
#pragma once

#include "gemm/gemm.h"
#include "minform/logprob.h"

namespace minform {
namespace MINFORM_ISA {

template <class T>
constexpr int64_t kTileTokens = 768 / static_cast<int64_t>(sizeof(T));  // vocabulary entries per tile; 192 in float32

// body(worker, unit) for units [0, units) on the pool; calls with the same worker never overlap.
template <class Body>
void forEachUnit(int64_t workers, int64_t units, const CancelFlag& cancelled, const Body& body) {
  int64_t next = 0;
  parallel(workers, [&](int64_t worker) {
    while (!cancelled.load(std::memory_order_relaxed)) {
      const int64_t unit = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
      if (unit >= units) return;
      body(worker, unit);
    }
  });
}

template <class T>
class LinearTiles {
 public:
  LinearTiles(const LinearInput& in, int64_t workers)
      : in_(in),
        positionsAtOnce_(evenShare(
            in.hidden.rows, smaller(kDepth, larger<int64_t>(16, kHiddenBytes / (in.hidden.columns *
                                                                                static_cast<int64_t>(sizeof(T))))))),
        hidden_(panelElements<T>(in.hidden.columns, smaller(positionsAtOnce_, in.hidden.rows))),
        left_(workers * kTileTokens<T> * kLeftStride),
        logits_(workers * kTileTokens<T> * kLeftStride) {}

  int64_t tiles() const { return (in_.weight.rows + kTileTokens<T> - 1) / kTileTokens<T>; }
  int64_t firstToken(int64_t tile) const { return tile * kTileTokens<T>; }
  int64_t tokens(int64_t tile) const { return smaller(kTileTokens<T>, in_.weight.rows - firstToken(tile)); }
  int64_t positions() const { return positions_; }
  int64_t positionsAtOnce() const { return positionsAtOnce_; }
  // Positions that a whole number of lane groups and panels covers: what a row of a tile holds.
  int64_t lanes() const {
    return larger(panelsOf<T>(positions_) * kPanel<T>, (positions_ + kLanes - 1) / kLanes * kLanes);
  }

  // Chooses the positions [first, ...) to work on; returns how many there are, all at once as far as memory allows.
  int64_t select(int64_t first) {
    positions_ = smaller(positionsAtOnce_, in_.hidden.rows - first);
    for (int64_t k = 0; k < in_.hidden.columns; k += kDepth) {
      panelsFromRows(in_.hidden, first, positions_, k, depthAt(k), hidden_.get() + panelElements<T>(k, positions_));
    }
    return positions_;
  }

  // The logits of a tile, rows at stride kLeftStride; valid until the worker's next call.
  T* logits(int64_t worker, int64_t tile) {
    T* left = left_.get() + worker * kTileTokens<T> * kLeftStride;
    T* out = logits_.get() + worker * kTileTokens<T> * kLeftStride;
    const int64_t first = firstToken(tile), count = tokens(tile), width = lanes();
    for (int64_t v = 0; v < count; v++) {
      const T start = in_.bias == nullptr ? T(0) : static_cast<T>(elementAt(in_.bias, in_.biasElement, first + v));
      for (int64_t i = 0; i < width; i++) out[v * kLeftStride + i] = start;
    }
    for (int64_t k = 0; k < in_.hidden.columns; k += kDepth) {
      leftFromRows(in_.weight, first, count, k, depthAt(k), left);
      const T* panels = hidden_.get() + panelElements<T>(k, positions_);
      multiplyBlock<T>({left, kLeftStride, count, panelsOf<T>(positions_) * kPanel<T>, depthAt(k), panels, out,
                        kLeftStride, out, kLeftStride});
    }
    return out;
  }

 private:
  static constexpr int64_t kHiddenBytes = int64_t{8} << 20;

  // The rounds that `most` at a time need, but of equal size.
  static int64_t evenShare(int64_t rows, int64_t most) {
    const int64_t rounds = (rows + most - 1) / most;
    return (rows + rounds - 1) / rounds;
  }

  int64_t depthAt(int64_t k) const { return smaller(kDepth, in_.hidden.columns - k); }

  const LinearInput& in_;
  int64_t positionsAtOnce_, positions_ = 0;
  Scratch<T> hidden_;  // panels, one k-block after another
  Scratch<T> left_, logits_;
};

}  // namespace MINFORM_ISA
}  // namespace minform
