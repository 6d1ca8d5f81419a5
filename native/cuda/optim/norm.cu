// Global gradient norm and clipping. A tensor is cut into the blocks of the CPU kernel; a warp sums one over the CPU's
// 32 accumulators, and blocks and tensors are folded in order.
#include <cmath>

#include "blocks.h"
#include "minform/cuda/optim.h"

namespace minform::cuda {
namespace {

constexpr int64_t kBlock = 1 << 15;
constexpr int kStreams = 8, kQuad = 4;  // a block is summed as 8 equal parts side by side, 4 neighbours at a time

// What the norm is found from. Of a float64 norm whose sum of squares is out of range the squares are summed again, of
// the gradients over `scale`.
struct Progress {
  double sum;      // of squares, of (gradient / scale)^2
  double largest;  // magnitude; 0 until it is needed
  double scale;
  int32_t again, bad;
};

template <class T>
struct BlockSquares {
  static constexpr int kThreads = kRowWarps * kWarp;
  static constexpr int kResident = 1;
  int64_t count;
  bool again;  // only where it has to be summed again
  Global<const T> values;
  Global<const Progress> progress;
  Global<double> sums;
  Global<int64_t> status;

  __device__ void operator()() const {
    const int64_t block = rowOfWarp(), first = block * kBlock;
    if (first >= count) return;
    const Progress now = progress[0];
    if (again && now.again == 0) return;
    const int64_t size = smaller(kBlock, count - first), part = size / (kQuad * kStreams) * kQuad;
    const double inverse = 1.0 / now.scale;
    const int stream = laneIndex() / kQuad, k = laneIndex() % kQuad;
    double sum = 0;
#pragma unroll 8
    for (int64_t i = 0; i < part; i += kQuad) sum += square(first + stream * part + i + k, inverse);
    // Streams 4 apart, 2 apart, 1 apart; then the quad: (0 + 2) + (1 + 3).
#pragma unroll
    for (int distance = kWarp / 2; distance > 0; distance /= 2) {
      sum += __shfl_xor_sync(kAllLanes, sum, distance);
    }
    for (int64_t i = kStreams * part; i < size; i++) sum += square(first + i, inverse);
    if (laneIndex() == 0) sums[block] = sum;
  }

  __device__ __forceinline__ double square(int64_t i, double inverse) const {
    const T value = values[i];
    if (!isFinite(value)) reportBad(status, i);
    const double x = static_cast<double>(value) * inverse;
    return x * x;
  }
};

// Adds the blocks of a tensor to the sum over tensors.
struct FoldBlocks {
  static constexpr int kThreads = kWarp;
  int64_t blocks;
  bool again;
  Global<const double> sums;
  Global<const int64_t> status;
  Global<Progress> progress;

  __device__ void operator()() const {
    Progress now = progress[0];
    if (threadIdx.x != 0 || (again && now.again == 0)) return;
    double sum = 0;
#pragma unroll 8
    for (int64_t block = 0; block < blocks; block++) sum += sums[block];
    now.sum += sum;
    now.bad = now.bad != 0 || status[0] != kOk;
    progress[0] = now;
  }
};

// The largest magnitude of a tensor, by one block of threads; only in the rare case that it is needed.
template <class T>
struct Largest {
  static constexpr int kThreads = 256;
  int64_t count;
  Global<const T> values;
  Global<Progress> progress;

  __device__ void operator()() const {
    const Progress now = progress[0];
    if (now.again == 0) return;
    double largest[1] = {now.largest};
    for (int64_t i = threadIdx.x; i < count; i += kThreads) {
      largest[0] = larger(largest[0], fabs(static_cast<double>(values[i])));
    }
    blockReduce(largest, Greatest());
    if (threadIdx.x == 0) progress[0] = Progress{0, largest[0], now.scale, now.again, now.bad};
  }
};

enum class Stage : int32_t { begin, afterSquares, afterLargest, end };

// What happens between the passes, by one thread.
struct Advance {
  static constexpr int kThreads = kWarp;
  Stage stage;
  double maxNorm;
  Global<Progress> progress;
  Global<GradNorm> out;
  Global<int64_t> guard;

  __device__ void operator()() const {
    if (threadIdx.x != 0) return;
    if (stage == Stage::begin) {
      progress[0] = Progress{0, 0, 1, 0, 0};
      return;
    }
    Progress now = progress[0];
    if (stage == Stage::afterSquares) {
      // Zero, underflow, overflow: divide by a power of two near the largest element.
      now.again = now.bad == 0 && !(now.sum >= 1e-280 && now.sum < HUGE_VAL);
    } else if (stage == Stage::afterLargest && now.again != 0 && now.largest > 0) {
      int exponent;
      frexp(now.largest, &exponent);
      now.scale = ldexp(1.0, clamped(exponent - 1, -1022, 1023));
    }
    progress[0] = now;
    if (stage == Stage::end) finish(now);
  }

  // torch.nn.utils.clip_grad_norm_ adds 1e-6 to the norm.
  __device__ void finish(const Progress& now) const {
    double norm = sqrt(now.sum) * now.scale;
    if (now.bad != 0 || norm == HUGE_VAL) norm = static_cast<double>(NAN);
    const bool usable = norm == norm;
    out[0] = GradNorm{norm, usable ? smaller(1.0, maxNorm / (norm + 1e-6)) : 1.0};
    if (!usable && guard != nullptr) reportBad(guard, 0);
  }
};

template <class T>
struct Multiply {
  static constexpr int kThreads = kStrideThreads;
  int64_t count;
  Global<T> values;
  Global<const double> factor;

  __device__ void operator()() const {
    const double by = factor[0];
    if (by == 1) return;
    eachStrided(count, [&](int64_t i) { values[i] = static_cast<T>(values[i] * by); });
  }
};

}  // namespace

template <class T>
void optimGradNorm(const T* const* grads, const int64_t* counts, int64_t tensors, double maxNorm, GradNorm* out,
                   int64_t* status, int64_t* guard, Stream stream) {
  const Buffer<Progress> progress(1, stream);
  const auto advance = [&](Stage stage) {
    launch(Advance{stage, maxNorm, progress.get(), out, guard}, {1, kWarp}, stream);
  };
  const auto sumSquares = [&](bool again) {
    for (int64_t tensor = 0; tensor < tensors; tensor++) {
      const int64_t blocks = ceilDivide(counts[tensor], kBlock);
      const Buffer<double> sums(blocks, stream);
      launch(BlockSquares<T>{counts[tensor], again, grads[tensor], progress.get(), sums.get(), status + tensor},
             warpPerRow(blocks), stream);
      launch(FoldBlocks{blocks, again, sums.get(), status + tensor, progress.get()}, {1, kWarp}, stream);
    }
  };
  for (int64_t tensor = 0; tensor < tensors; tensor++) resetStatus(status + tensor, stream);
  advance(Stage::begin);
  sumSquares(false);
  advance(Stage::afterSquares);
  // Squares of float32 numbers are within float64: zero is the only sum below 1e-280.
  if (sizeof(T) == sizeof(double)) {
    for (int64_t tensor = 0; tensor < tensors; tensor++) {
      launch(Largest<T>{counts[tensor], grads[tensor], progress.get()}, {1, Largest<T>::kThreads}, stream);
    }
    advance(Stage::afterLargest);
    sumSquares(true);
  }
  advance(Stage::end);
}

template <class T>
void optimScale(T* values, int64_t count, const double* deviceScale, Stream stream) {
  launch(Multiply<T>{count, values, deviceScale}, strided(count), stream);
}

template void optimGradNorm(const float* const*, const int64_t*, int64_t, double, GradNorm*, int64_t*, int64_t*,
                            Stream);
template void optimGradNorm(const double* const*, const int64_t*, int64_t, double, GradNorm*, int64_t*, int64_t*,
                            Stream);
template void optimScale(float*, int64_t, const double*, Stream);
template void optimScale(double*, int64_t, const double*, Stream);

}  // namespace minform::cuda
