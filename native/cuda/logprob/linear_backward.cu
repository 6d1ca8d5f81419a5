// Gradients of log-probs and entropy with respect to hidden states, weight and bias. The logits of a chunk are made
// again and turned into their gradient D, from which
//   gradWeight (+)= D^T hidden,  gradHidden (+)= D weight,  gradBias (+)= column sums of D.
// Chunks are as tall as memory allows (8,192 rows x 4,096 tokens, 128 MB in float32 and half of it again for narrow D),
// so that gradWeight, the larger output, is written once; gradHidden takes a sum per chunk, in order.
//
// Where hidden and weight are both bfloat16 or float16, D is rounded to their type, times a power of two that keeps the
// largest possible gradient of the batch near 2^14: float16 would lose small ones. Products then run on tensor cores.
// In all other cases D stays as it is.
#include <type_traits>

#include "gradient.h"
#include "linear.h"

namespace minform::cuda {
namespace {

template <class T>
constexpr int64_t kChunkElements = (int64_t{128} << 20) / static_cast<int64_t>(sizeof(T));

// {1 / scale, 0, 1, scale} of a batch of narrow gradients.
template <class T>
struct FindScale {
  static constexpr int kThreads = 1024;
  int64_t rows;
  Upstream<T> upstream;
  Global<float> scale;

  __device__ void operator()() const {
    double most[1] = {0};
    for (int64_t row = threadIdx.x; row < rows; row += kThreads) {
      const RowGradient g = upstream.of(row);
      // |D| <= |g_logProb| + |g_entropy| (H + 1 / e), over the temperature: p |log p| is at most 1 / e.
      const double bound = (fabs(g.gradLogProb) + fabs(g.gradEntropy) * (g.entropy + 0.37)) * g.inverseTemperature;
      most[0] = larger(most[0], bound);
    }
    blockReduce(most, Greatest());
    if (threadIdx.x != 0) return;
    const bool usable = most[0] > 1e-30 && most[0] < 1e30;
    const float factor = usable ? static_cast<float>(exp2(14 - ceil(log2(most[0])))) : 1.0f;
    scale[0] = 1 / factor;
    scale[1] = 0;
    scale[2] = 1;
    scale[3] = factor;
  }
};

template <class Stored, int kSize>
struct alignas(sizeof(Stored) * kSize) Few {
  Stored at[kSize];
};

// Logits to gradients, in place where they are stored as T; else the place keeps them only if `keep`.
template <class T, class Stored>
struct SpreadChunk {
  static constexpr int kThreads = kTileThreads;
  ChunkTiles<T> tiles;
  Global<const int32_t> targets;
  Upstream<T> upstream;
  bool keep;
  Global<Stored> narrowed;
  Global<const float> scale;
  Global<double> probabilities;  // per tile, their sum

  __device__ void operator()() const {
    constexpr int kSize = Pack<T>::kSize;
    const int64_t row = tiles.row(), target = tiles.targetColumn(targets, row), start = row * tiles.chunk.leading;
    const RowGradient g = upstream.of(tiles.chunk.firstRow + row);
    double sums[1] = {};
#pragma unroll
    for (int p = 0; p < kLinearPacks; p++) {
      const int64_t column = tiles.column(p);
      // Lines end in zeros: later products read them in packs.
      if (column >= tiles.chunk.leading) break;
      const Pack<T> gradients = spreadPack<T>(g, tiles.read(row, column), column, target, sums[0]);
      if (std::is_same_v<T, Stored> || keep) storeAs<Pack<T>, T>(tiles.logits, start + column, gradients);
      if constexpr (!std::is_same_v<T, Stored>) {
        const float factor = scale[3];
        Few<Stored, kSize> few;
#pragma unroll
        for (int i = 0; i < kSize; i++) narrow(gradients.at[i] * factor, few.at[i]);
        storeAs<Few<Stored, kSize>, Stored>(narrowed, start + column, few);
      }
    }
    blockReduce(sums, Sum());
    if (threadIdx.x == 0) probabilities[blockIdx.x] = sums[0];
  }
};

template <class T>
struct AddProbabilities {
  static constexpr int kThreads = 128;
  ChunkTiles<T> tiles;
  Upstream<T> upstream;
  Global<const double> probabilities;
  Global<double> known;  // per row of the chunk
  Global<int64_t> status;

  __device__ void operator()() const {
    const int64_t row = elementOfThread();
    if (row >= tiles.chunk.rows) return;
    double sum = tiles.chunk.firstOfRows ? 0.0 : static_cast<double>(known[row]);
    for (int64_t tile = 0; tile < tiles.perRow; tile++) sum += probabilities[row * tiles.perRow + tile];
    known[row] = sum;
    const int64_t index = tiles.chunk.firstRow + row;
    if (tiles.chunk.lastOfRows && !(sum > 0.99 && sum < 1.01 && upstream.of(index).finite())) reportBad(status, index);
  }
};

// A block sums 32 columns: warp w adds every eighth row from w on, then the warps' sums are added in order.
template <class T>
struct AddColumns {
  static constexpr int kThreads = 256, kWarps = kThreads / kWarp;
  Chunk chunk;
  Global<const T> gradients;
  Global<T> bias;

  __device__ void operator()() const {
    SHARED(double, sums, kThreads);
    const int64_t column = int64_t{blockIdx.x} * kWarp + laneIndex();
    double sum = 0;
    if (column < chunk.tokens) {
      for (int64_t row = warpIndex(); row < chunk.rows; row += kWarps) sum += gradients[row * chunk.leading + column];
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (warpIndex() != 0 || column >= chunk.tokens) return;
    double whole = chunk.firstRow == 0 ? 0.0 : static_cast<double>(bias[chunk.firstToken + column]);
    for (int warp = 0; warp < kWarps; warp++) whole += sums[warp * kWarp + laneIndex()];
    bias[chunk.firstToken + column] = static_cast<T>(whole + 0.0);
  }
};

// What D is stored as: T, or the type of both operands.
template <class T, class Body>
void withGradientElement(const LinearInput& in, const Body& body) {
  const bool alike = in.hidden.element == in.weight.element;
  if constexpr (sizeof(T) == sizeof(float)) {
    if (alike && in.hidden.element == Element::float16) return body(Float16{}, Element::float16);
    // The tensor cores of sm_75 know no bfloat16.
    if (alike && in.hidden.element == Element::bfloat16 && limits().major >= 8) {
      return body(Bfloat16{}, Element::bfloat16);
    }
  }
  body(T{}, sizeof(T) == sizeof(double) ? Element::float64 : Element::float32);
}

template <class T>
class LinearBackward {
 public:
  LinearBackward(const LinearInput& in, const int32_t* targets, const Upstream<T>& upstream,
                 const LinearGradients<T>& out, int64_t* status, Stream stream)
      : in_(in),
        targets_(targets),
        upstream_(upstream),
        out_(out),
        status_(status),
        stream_(stream),
        sizes_(in, kChunkElements<T>, kLinearTile<T>, kLinearTile<T>) {}

  template <class Stored>
  void run(Element element) const {
    constexpr bool kNarrow = !std::is_same_v<T, Stored>;
    const int64_t elements = sizes_.rows * sizes_.leading();
    const Buffer<T> logits(elements, stream_);
    const Buffer<Stored> narrowed(kNarrow ? elements : 0, stream_);
    const Buffer<float> scale(kNarrow ? 4 : 0, stream_);
    const Buffer<double> probabilities(sizes_.rows * ceilDivide(sizes_.tokens, kLinearTile<T>), stream_);
    const Buffer<double> known(sizes_.rows, stream_);
    if (kNarrow) launch(FindScale<T>{in_.hidden.rows, upstream_, scale.get()}, {1, FindScale<T>::kThreads}, stream_);
    forEachChunk(in_, sizes_, [&](const Chunk& chunk) {
      multiplyLogits(in_, chunk, logits.get(), stream_);
      const ChunkTiles<T> tiles(in_, chunk, logits.get());
      launch(SpreadChunk<T, Stored>{tiles, targets_, upstream_, out_.bias != nullptr, narrowed.get(), scale.get(),
                                    probabilities.get()},
             tiles.shape(), stream_);
      launch(AddProbabilities<T>{tiles, upstream_, probabilities.get(), known.get(), status_},
             tiles.rowShape(AddProbabilities<T>::kThreads), stream_);
      if (out_.bias != nullptr) {
        launch(AddColumns<T>{chunk, logits.get(), out_.bias},
               {ceilDivide(chunk.tokens, kWarp), AddColumns<T>::kThreads}, stream_);
      }
      const void* gradients = kNarrow ? static_cast<const void*>(narrowed.get()) : logits.get();
      multiplyGradients(chunk, {gradients, element, chunk.leading, true, true}, scale.get());
    });
  }

 private:
  void multiplyGradients(const Chunk& chunk, const Operand& byRow, const float* scale) const {
    const int64_t width = in_.hidden.columns;
    Operand byToken = byRow;
    byToken.depthContiguous = false;
    multiply(Product<T>{chunk.tokens, width, chunk.rows, byToken, linesOf(in_.hidden, chunk.firstRow, false),
                        out_.weight + chunk.firstToken * width, width, chunk.firstRow > 0, true, scale},
             stream_);
    multiply(Product<T>{chunk.rows, width, chunk.tokens, byRow, linesOf(in_.weight, chunk.firstToken, false),
                        out_.hidden + chunk.firstRow * width, width, !chunk.firstOfRows, true, scale},
             stream_);
  }

  const LinearInput& in_;
  const int32_t* targets_;
  Upstream<T> upstream_;
  LinearGradients<T> out_;
  int64_t* status_;
  Stream stream_;
  ChunkSizes sizes_;
};

}  // namespace

template <class T>
void logProbLinearBackward(const LinearInput& in, const int32_t* targets, double temperature,
                           const LogProbGradients<T>& grads, const LinearGradients<T>& out, int64_t* status,
                           Stream stream) {
  resetStatus(status, stream);
  if (in.hidden.rows == 0) {
    fillBytes(out.weight, 0, sizeof(T) * static_cast<size_t>(in.weight.rows * in.weight.columns), stream);
    if (out.bias != nullptr) fillBytes(out.bias, 0, sizeof(T) * static_cast<size_t>(in.weight.rows), stream);
    return;
  }
  const LinearBackward<T> backward(in, targets, Upstream<T>(grads, temperature), out, status, stream);
  withGradientElement<T>(in, [&](auto kind, Element element) { backward.template run<decltype(kind)>(element); });
}

template void logProbLinearBackward(const LinearInput&, const int32_t*, double, const LogProbGradients<float>&,
                                    const LinearGradients<float>&, int64_t*, Stream);
template void logProbLinearBackward(const LinearInput&, const int32_t*, double, const LogProbGradients<double>&,
                                    const LinearGradients<double>&, int64_t*, Stream);

}  // namespace minform::cuda
