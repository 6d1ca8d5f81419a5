// Whitening: moments of blocks, half a warp per block over the lanes of the CPU kernel; one tree over the blocks; and a
// pass that writes.
#include "arithmetic/moments.h"
#include "launch.h"
#include "minform/cuda/advantage.h"
#include "reduce.h"
#include "rows.h"

namespace minform::cuda {
namespace {

constexpr int64_t kBlock = 4096;
constexpr int kHalfWarp = 16;

// What the passes know. `again`: the moments are taken once more, in other units.
struct Whitening {
  Units units;
  Moments moments;
  Whitener whitener;
  int32_t again;
};

template <class T>
struct BlockMoments {
  static constexpr int kThreads = 128;
  static constexpr int kBlocks = kThreads / kHalfWarp;
  int64_t count;
  bool again;
  Global<const T> values;
  Global<const uint8_t> mask;
  Global<const Whitening> state;
  Global<Moments> parts;
  Global<int64_t> status;

  template <class Value, class Operation>
  __device__ static Value fold(Value value, const Operation& operation) {
#pragma unroll
    for (int distance = kHalfWarp / 2; distance > 0; distance /= 2) {
      value = operation(value, __shfl_xor_sync(kAllLanes, value, distance));
    }
    return value;
  }

  __device__ void operator()() const {
    if (again && state[0].again == 0) return;
    const Units units = again ? state[0].units : Units{1, 1};
    const int64_t block = int64_t{blockIdx.x} * kBlocks + threadIdx.x / kHalfWarp;
    const int64_t begin = smaller(block * kBlock, count), end = smaller(begin + kBlock, count);
    const int64_t own = begin + laneIndex() % kHalfWarp;
    int64_t first = end, counted = 0;
    for (int64_t i = own; i < end; i += kHalfWarp) {
      if (!trained(mask, i)) continue;
      if (!isFinite(values[i])) reportBad(status, i);
      first = smaller(first, i);
      counted++;
    }
    first = fold(first, Least());
    counted = fold(counted, Sum());
    Moments m{static_cast<double>(counted), 0, 0, 0};
    if (counted > 0) m.first = values[first];
    const auto sumOver = [&](const auto& term) {
      double sum = 0;
      for (int64_t i = own; i < end; i += kHalfWarp) {
        if (trained(mask, i)) sum += term(units.difference(values[i], m.first));
      }
      return fold(sum, Sum());
    };
    const double sum = sumOver([](double x) { return x; });
    m.mean = counted == 0 ? 0 : sum / m.count;
    m.squares = sumOver([&](double x) { return (x - m.mean) * (x - m.mean); });
    if (begin < end && laneIndex() % kHalfWarp == 0) parts[block] = m;
  }
};

// Merges the blocks: each thread neighbours in order, then neighbouring threads.
struct MergeMoments {
  static constexpr int kThreads = 256;
  int64_t blocks;
  bool again;
  WhitenRule rule;
  Global<const Moments> parts;
  Global<Whitening> state;

  __device__ void operator()() const {
    SHARED(Moments, shared, kThreads);
    Whitening now{{1, 1}, {0, 0, 0, 0}, {0, 0}, 0};
    if (again) {
      now = state[0];
      if (now.again == 0) return;
    }
    const int thread = static_cast<int>(threadIdx.x);
    Moments own{0, 0, 0, 0};
    for (int64_t i = blocks * thread / kThreads; i < blocks * (thread + 1) / kThreads; i++) {
      own = merged(own, parts[i], now.units);
    }
    shared[thread] = own;
    for (int distance = 1; distance < kThreads; distance *= 2) {
      __syncthreads();
      if (thread % (2 * distance) == 0) shared[thread] = merged(shared[thread], shared[thread + distance], now.units);
    }
    if (thread != 0) return;
    now.moments = shared[0];
    finish(now);
    state[0] = now;
  }

  __device__ void finish(Whitening& now) const {
    if (!again) {
      now.units = unitsFor(now.moments, rule);
      now.again = now.units.scale() != 1;
      if (now.again != 0) return;
    }
    now.whitener = whitenerOf(now.moments, now.units, rule);
  }
};

template <class T>
struct Apply {
  static constexpr int kThreads = 256;
  int64_t count;
  Global<const T> values;
  Global<const uint8_t> mask;
  Global<const Whitening> state;
  Global<T> out;

  __device__ void operator()() const {
    const int64_t i = elementOfThread();
    if (i >= count) return;
    if (!trained(mask, i)) {
      out[i] = T(0);
      return;
    }
    const Whitening now = state[0];
    const double distance = now.units.difference(values[i], now.moments.first) - now.moments.mean;
    out[i] = saturated(distance * now.whitener.factor + now.whitener.shift, T(0));
  }
};

}  // namespace

template <class T>
void advantageWhiten(const WhitenRule& rule, int64_t count, const T* values, const uint8_t* mask, T* out,
                     int64_t* status, Stream stream) {
  resetStatus(status, stream);
  const int64_t blocks = ceilDivide(count, kBlock);
  const Buffer<Whitening> state(1, stream);
  const Buffer<Moments> parts(blocks, stream);
  using Blocks = BlockMoments<T>;
  for (const bool again : {false, true}) {
    launch(Blocks{count, again, values, mask, state.get(), parts.get(), status},
           {ceilDivide(blocks, Blocks::kBlocks), Blocks::kThreads}, stream);
    launch(MergeMoments{blocks, again, rule, parts.get(), state.get()}, {1, MergeMoments::kThreads}, stream);
  }
  launch(Apply<T>{count, values, mask, state.get(), out}, threadPerElement(count, Apply<T>::kThreads), stream);
}

template void advantageWhiten(const WhitenRule&, int64_t, const float*, const uint8_t*, float*, int64_t*, Stream);
template void advantageWhiten(const WhitenRule&, int64_t, const double*, const uint8_t*, double*, int64_t*, Stream);

}  // namespace minform::cuda
