// Gradients of log-probs and entropy with respect to hidden states, weight and bias. Tile by tile the logits are made
// again and turned into their gradient D; gradWeight and gradBias of the tile follow at once, while gradHidden = D
// weight sums over the vocabulary: the tiles of a wave are kept, then all columns of gradHidden take them in order.
#include "gradient.h"
#include "linear.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

constexpr int64_t kWaveBytes = int64_t{16} << 20;
constexpr int64_t kColumns = 64;  // of gradHidden per unit of work

// Logits to gradients in place, one position per lane, target entries apart; adds up the probabilities.
void spreadTile(float* x, int64_t rows, int64_t lanes, const RowGradient* gradients, double* probability) {
  for (int64_t first = 0; first < lanes; first += kFloats) {
    GradientVectors g;
    for (int i = 0; i < kFloats; i++) g.set(i, gradients[first + i]);
    for (int i = 0; i < kFloats; i++) probability[first + i] = 0;
    for (int64_t begin = 0; begin < rows; begin += kTerms) {
      const int64_t end = smaller(rows, begin + kTerms);
      FloatVector sum = {};
      for (int64_t v = begin; v < end; v++) {
        float* at = x + v * kLeftStride + first;
        storeLanes(at, g.at<true>(loadLanes(at), &sum));
      }
      foldInto(probability + first, sum);
    }
  }
}

void spreadTile(double* x, int64_t rows, int64_t lanes, const RowGradient* gradients, double* probability) {
  for (int64_t i = 0; i < lanes; i++) {
    probability[i] = 0;
    for (int64_t v = 0; v < rows; v++) {
      double& at = x[v * kLeftStride + i];
      at = gradients[i].at(at, &probability[i]);
    }
  }
}

// What phase one leaves for phase two: D transposed back to [position][token], and the tile's weight as panels.
template <class T>
class Wave {
 public:
  explicit Wave(int64_t width)
      : panelSize_(panelElements<T>(kTileTokens<T>, width)),
        tiles_(larger<int64_t>(1, smaller<int64_t>(32, kWaveBytes / (static_cast<int64_t>(sizeof(T)) *
                                                                     (kDepth * kLeftStride + panelSize_))))),
        gradients_(tiles_ * kDepth * kLeftStride),
        weights_(tiles_ * panelSize_),
        probability_(tiles_ * kDepth) {}

  int64_t tiles() const { return tiles_; }
  T* gradients(int64_t unit) { return gradients_.get() + unit * kDepth * kLeftStride; }
  T* weights(int64_t unit) { return weights_.get() + unit * panelSize_; }
  double* probability(int64_t unit) { return probability_.get() + unit * kDepth; }

 private:
  int64_t panelSize_, tiles_;
  Scratch<T> gradients_, weights_;
  Scratch<double> probability_;
};

template <class T>
void addBias(const T* gradients, int64_t rows, int64_t positions, bool accumulate, T* bias) {
  for (int64_t v = 0; v < rows; v++) {
    double sum = accumulate ? static_cast<double>(bias[v]) : 0.0;
    for (int64_t i = 0; i < positions; i++) sum += gradients[v * kLeftStride + i];
    bias[v] = static_cast<T>(sum);
  }
}

}  // namespace

template <class T>
int64_t linearBackward(const LinearInput& in, const int32_t* targets, double temperature,
                       const LogProbGradients<T>& grads, const LinearGradients<T>& out, const CancelFlag& cancelled) {
  const int64_t workers = numThreads(), width = in.hidden.columns;
  LinearTiles<T> tiles(in, workers);
  Wave<T> wave(width);
  const int64_t most = smaller(tiles.positionsAtOnce(), in.hidden.rows);
  Scratch<T> hidden(panelElements<T>(most, width));
  Scratch<T> product(workers * kDepth * kColumns);
  Scratch<double> gradHidden(most * width);
  Scratch<RowGradient> gradients(kDepth);
  Scratch<double> probability(kDepth);
  int64_t bad = kOk;
  for (int64_t first = 0; first < in.hidden.rows; first += tiles.positions()) {
    const int64_t positions = tiles.select(first), lanes = tiles.lanes();
    panelsFromColumns({in.hidden.data, in.hidden.element, in.hidden.rows, width}, first, positions, hidden.get());
    // Lanes past the positions repeat the last one and are never read.
    for (int64_t i = 0; i < lanes; i++)
      gradients[i] = RowGradient(grads, first + smaller(i, positions - 1), temperature);
    for (int64_t i = 0; i < positions; i++) probability[i] = 0;
    for (int64_t i = 0; i < positions * width; i++) gradHidden[i] = 0;

    for (int64_t begin = 0; begin < tiles.tiles(); begin += wave.tiles()) {
      const int64_t count = smaller(wave.tiles(), tiles.tiles() - begin);
      forEachUnit(workers, count, cancelled, [&](int64_t worker, int64_t unit) {
        const int64_t tile = begin + unit, token = tiles.firstToken(tile), rows = tiles.tokens(tile);
        T* d = tiles.logits(worker, tile);
        double targetLogits[kDepth];
        for (int64_t i = 0; i < positions; i++) {
          const int64_t target = targets[first + i] - token;
          if (target >= 0 && target < rows) targetLogits[i] = d[target * kLeftStride + i];
        }
        spreadTile(d, rows, lanes, gradients.get(), wave.probability(unit));
        for (int64_t i = 0; i < positions; i++) {
          const int64_t target = targets[first + i] - token;
          if (target >= 0 && target < rows)
            d[target * kLeftStride + i] = static_cast<T>(gradients[i].atTarget(targetLogits[i]));
        }
        if (out.bias != nullptr) addBias(d, rows, positions, out.accumulate || first > 0, out.bias + token);
        T* weight = out.weight + token * width;
        const T* start = out.accumulate || first > 0 ? weight : nullptr;
        multiplyBlock<T>({d, kLeftStride, rows, width, positions, hidden.get(), start, width, weight, width});
        leftFromColumns(d, kLeftStride, positions, rows, wave.gradients(unit));
        panelsFromColumns(in.weight, token, rows, wave.weights(unit));
      });
      if (cancelled.load(std::memory_order_relaxed)) return kOk;
      for (int64_t unit = 0; unit < count; unit++) {
        for (int64_t i = 0; i < positions; i++) probability[i] += wave.probability(unit)[i];
      }
      forEachUnit(workers, (width + kColumns - 1) / kColumns, cancelled, [&](int64_t worker, int64_t unit) {
        const int64_t column = unit * kColumns, columns = smaller(kColumns, width - column);
        T* sums = product.get() + worker * kDepth * kColumns;
        for (int64_t i = 0; i < count; i++) {
          const int64_t depth = tiles.tokens(begin + i);
          multiplyBlock<T>({wave.gradients(i), kLeftStride, positions, columns, depth,
                            wave.weights(i) + panelElements<T>(depth, column), i > 0 ? sums : nullptr, kColumns, sums,
                            kColumns});
        }
        for (int64_t i = 0; i < positions; i++) {
          for (int64_t j = 0; j < columns; j++) gradHidden[i * width + column + j] += sums[i * kColumns + j];
        }
      });
      if (cancelled.load(std::memory_order_relaxed)) return kOk;
    }
    for (int64_t i = 0; i < positions; i++) {
      if (bad == kOk && !gradients[i].plausible(probability[i])) bad = first + i;
      for (int64_t j = 0; j < width; j++)
        out.hidden[(first + i) * width + j] = static_cast<T>(gradHidden[i * width + j] + 0.0);
    }
  }
  return bad;
}

template int64_t linearBackward(const LinearInput&, const int32_t*, double, const LogProbGradients<float>&,
                                const LinearGradients<float>&, const CancelFlag&);
template int64_t linearBackward(const LinearInput&, const int32_t*, double, const LogProbGradients<double>&,
                                const LinearGradients<double>&, const CancelFlag&);

}  // namespace MINFORM_ISA
}  // namespace minform
