// Log-probs, entropy, logsumexp and sum p^2 straight from hidden states: tiles of logits are reduced as they are made.
#include "linear.h"
#include "partial.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

constexpr int64_t kWave = 64;  // tiles whose partial results wait to be merged in order

// The rows of a tile, one position per lane; kFloats positions from `x` on.
template <bool Squares>
void scanLanes(const float* x, int64_t rows, const BaseTwo& units, Partial* into) {
  FloatVector max = loadLanes(x);
  for (int64_t v = 0; v < rows; v++) max = largerLanes(loadLanes(x + v * kLeftStride), max);
  double sum[kFloats] = {}, weighted[kFloats] = {}, squares[kFloats] = {};
  for (int64_t begin = 0; begin < rows; begin += kTerms) {
    const int64_t end = smaller(rows, begin + kTerms);
    FloatVector sums = {}, weights = {}, square = {};
    for (int64_t v = begin; v < end; v++) {
      const FloatVector y = largerLanes(allLanes(kLowestLog2), (loadLanes(x + v * kLeftStride) - max) * units.factor);
      const FloatVector e = exp2InRange(y);
      sums += e;
      weights += e * y;
      if (Squares) {
        const FloatVector seen = largerLanes(allLanes(kFaintest), e);
        square += seen * seen;
      }
    }
    foldInto(sum, sums);
    foldInto(weighted, weights);
    if (Squares) foldInto(squares, square);
  }
  for (int i = 0; i < kFloats; i++) {
    into[i] = kNothing;
    bool undefined = false;
    if (max[i] == -HUGE_VALF || isNaN(max[i])) {
      for (int64_t v = 0; v < rows; v++) undefined = undefined || isNaN(x[v * kLeftStride + i]);
      if (undefined) into[i].sum = NAN;
      continue;
    }
    const double natural = weighted[i] * units.toNatural;
    into[i] = {max[i], sum[i] - units.drift * natural, natural, squares[i]};
  }
}

void scanTile(const float* logits, int64_t rows, int64_t lanes, double inverseTemperature, bool squares,
              Partial* into) {
  const BaseTwo units(inverseTemperature);
  for (int64_t i = 0; i < lanes; i += kFloats) {
    if (squares) {
      scanLanes<true>(logits + i, rows, units, into + i);
    } else {
      scanLanes<false>(logits + i, rows, units, into + i);
    }
  }
}

void scanTile(const double* logits, int64_t rows, int64_t lanes, double inverseTemperature, bool, Partial* into) {
  for (int64_t i = 0; i < lanes; i++) {
    Partial partial = kNothing;
    bool undefined = false;
    for (int64_t v = 0; v < rows; v++) {
      const double x = logits[v * kLeftStride + i];
      partial.max = larger(partial.max, x);
      undefined = undefined || isNaN(x) || x == HUGE_VAL;
    }
    if (undefined) partial.sum = NAN;
    for (int64_t v = 0; v < rows && !undefined && partial.max != -HUGE_VAL; v++) {
      const double y = (logits[v * kLeftStride + i] - partial.max) * inverseTemperature, e = ::exp(y);
      partial.sum += e;
      partial.weighted += e == 0 ? 0 : e * y;
      partial.squares += e * e;
    }
    into[i] = partial;
  }
}

}  // namespace

template <class T>
int64_t linearForward(const LinearInput& in, const int32_t* targets, double temperature, const LogProbOutput<T>& out,
                      const CancelFlag& cancelled) {
  const int64_t workers = numThreads();
  const double inverse = 1 / temperature;
  LinearTiles<T> tiles(in, workers);
  Scratch<Partial> waiting(kWave * kDepth);
  Scratch<Partial> merged(kDepth);
  Scratch<double> targetLogits(kDepth);
  int64_t bad = kOk;
  for (int64_t first = 0; first < in.hidden.rows; first += tiles.positions()) {
    const int64_t positions = tiles.select(first);
    for (int64_t i = 0; i < positions; i++) merged[i] = kNothing;
    for (int64_t wave = 0; wave < tiles.tiles(); wave += kWave) {
      const int64_t count = smaller(kWave, tiles.tiles() - wave);
      forEachUnit(workers, count, cancelled, [&](int64_t worker, int64_t unit) {
        const int64_t tile = wave + unit, begin = tiles.firstToken(tile), rows = tiles.tokens(tile);
        const T* logits = tiles.logits(worker, tile);
        scanTile(logits, rows, tiles.lanes(), inverse, out.sumSquaredProbs != nullptr, waiting.get() + unit * kDepth);
        for (int64_t i = 0; i < positions; i++) {
          const int64_t target = targets[first + i] - begin;
          if (target >= 0 && target < rows) targetLogits[i] = logits[target * kLeftStride + i];
        }
      });
      if (cancelled.load(std::memory_order_relaxed)) return kOk;
      for (int64_t unit = 0; unit < count; unit++) {
        for (int64_t i = 0; i < positions; i++) merged[i].merge(waiting[unit * kDepth + i], inverse);
      }
    }
    for (int64_t i = 0; i < positions; i++) {
      if (!writeRow(merged[i], first + i, targetLogits[i], inverse, out) && bad == kOk) bad = first + i;
    }
  }
  return bad;
}

template int64_t linearForward(const LinearInput&, const int32_t*, double, const LogProbOutput<float>&,
                               const CancelFlag&);
template int64_t linearForward(const LinearInput&, const int32_t*, double, const LogProbOutput<double>&,
                               const CancelFlag&);

}  // namespace MINFORM_ISA
}  // namespace minform
