// Log-probs, entropy, logsumexp and sum p^2 straight from hidden states. Of each chunk of logits a block per tile finds
// maximum and sums, and a thread per row merges the tiles in order into what it knows of the row.
//
// Chunks are 32 MB in float32: on cards with a larger level-2 cache (50 MB on an H200) most logits are read where the
// product left them, at 1,024 rows x 8,192 tokens, enough blocks for several rounds on every SM.
#include "linear.h"
#include "results.h"
#include "scan.h"

namespace minform::cuda {
namespace {

constexpr int64_t kChunkElements = int64_t{8} << 20, kChunkTokens = 8192;

template <class T, bool Squares>
struct ScanChunk {
  static constexpr int kThreads = kTileThreads;
  ChunkTiles<T> tiles;
  TileScan<T, Squares> scan;
  Global<Partial> partials;

  __device__ void operator()() const {
    const int64_t row = tiles.row();
    Pack<T> packs[kLinearPacks];
#pragma unroll
    for (int p = 0; p < kLinearPacks; p++) packs[p] = tiles.read(row, tiles.column(p));
    const Partial partial = scan.of(packs);
    if (threadIdx.x == 0) partials[blockIdx.x] = partial;
  }
};

template <class T>
struct MergeChunk {
  static constexpr int kThreads = 128;
  ChunkTiles<T> tiles;
  Global<const int32_t> targets;
  Global<const Partial> partials;
  double inverseTemperature;
  Global<Partial> known;  // per row of the chunk, and the logits of their targets
  Global<double> targetLogits;
  RowResults<T> results;

  __device__ void operator()() const {
    const int64_t row = elementOfThread();
    if (row >= tiles.chunk.rows) return;
    Partial whole = partials[row * tiles.perRow];
    if (!tiles.chunk.firstOfRows) {
      const Partial first = whole;
      whole = known[row];
      whole.merge(first, inverseTemperature);
    }
    for (int64_t tile = 1; tile < tiles.perRow; tile++) {
      whole.merge(partials[row * tiles.perRow + tile], inverseTemperature);
    }
    const int64_t target = tiles.targetColumn(targets, row);
    if (target >= 0 && target < tiles.chunk.tokens) {
      targetLogits[row] = tiles.withBias(tiles.logits[row * tiles.chunk.leading + target], target);
    }
    if (tiles.chunk.lastOfRows) {
      // The last chunk ends with the vocabulary.
      if (target + tiles.chunk.firstToken < 0 || target >= tiles.chunk.tokens) {
        reportBad(results.status, tiles.chunk.firstRow + row);
        return;
      }
      results.write(tiles.chunk.firstRow + row, whole, targetLogits[row], inverseTemperature);
    } else {
      known[row] = whole;
    }
  }
};

}  // namespace

template <class T>
void logProbLinearForward(const LinearInput& in, const int32_t* targets, double temperature,
                          const LogProbOutput<T>& out, int64_t* status, Stream stream) {
  resetStatus(status, stream);
  if (in.hidden.rows == 0) return;
  const double inverse = 1 / temperature;
  const ChunkSizes sizes(in, kChunkElements, kChunkTokens, kLinearTile<T>);
  const Buffer<T> logits(sizes.rows * sizes.leading(), stream);
  const Buffer<Partial> partials(sizes.rows * ceilDivide(sizes.tokens, kLinearTile<T>), stream);
  const Buffer<Partial> known(sizes.rows, stream);
  const Buffer<double> targetLogits(sizes.rows, stream);
  forEachChunk(in, sizes, [&](const Chunk& chunk) {
    multiplyLogits(in, chunk, logits.get(), stream);
    const ChunkTiles<T> tiles(in, chunk, logits.get());
    if (out.sumSquaredProbs != nullptr) {
      launch(ScanChunk<T, true>{tiles, TileScan<T, true>(inverse), partials.get()}, tiles.shape(), stream);
    } else {
      launch(ScanChunk<T, false>{tiles, TileScan<T, false>(inverse), partials.get()}, tiles.shape(), stream);
    }
    launch(MergeChunk<T>{tiles, targets, partials.get(), inverse, known.get(), targetLogits.get(),
                         RowResults<T>(out, status)},
           tiles.rowShape(MergeChunk<T>::kThreads), stream);
  });
}

template void logProbLinearForward(const LinearInput&, const int32_t*, double, const LogProbOutput<float>&, int64_t*,
                                   Stream);
template void logProbLinearForward(const LinearInput&, const int32_t*, double, const LogProbOutput<double>&, int64_t*,
                                   Stream);

}  // namespace minform::cuda
