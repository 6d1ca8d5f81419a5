// Sampling, a block per row, without sorting: where in the ranking a running sum passes a threshold is found two bits
// of the logits at a time, by sums over the tokens that are at least as likely. Sums are integers: exact in any order.
//
// A row is read once per two bits, 16 times in float32, from the level-2 cache where the row of a 150,000-token
// vocabulary fits many times over. A draw without truncation takes three passes.
#include "minform/cuda/sampling.h"

#include <type_traits>

#include "arithmetic/partial.h"
#include "arithmetic/ranking.h"
#include "logprob/tiles.h"

namespace minform::cuda {
namespace {

constexpr int kRowThreads = 512;

__device__ __forceinline__ float weightOf(float difference, float factor, double) {
  return difference == 0 ? 1.0f : fastExp2(difference * factor);
}
__device__ __forceinline__ double weightOf(double difference, float, double inverse) {
  return difference == 0 ? 1.0 : exp(difference * inverse);
}

// What counts about a token, if anything does.
struct CountOne {
  __device__ __forceinline__ uint64_t operator()(uint64_t weight) const { return weight > 0 ? 1 : 0; }
};
struct Weigh {
  __device__ __forceinline__ uint64_t operator()(uint64_t weight) const { return weight; }
};

template <class T, class Element>
struct SampleRow {
  static constexpr int kThreads = kRowThreads;
  using Real = Wide<Element>;
  using Key = std::conditional_t<sizeof(Real) == sizeof(double), uint64_t, uint32_t>;
  Global<const Element> logits;
  int64_t columns;
  bool aligned, greedy;
  double inverse, topP, lowest;  // lowest: log of min-p, -Infinity for none
  float factor;
  int64_t topK;
  uint64_t seed;
  Global<const RandomCounter> counters;
  Global<int32_t> tokens;
  Global<T> logProbs, truncatedLogProbs;
  Global<int64_t> status;

  // The row, and which of its tokens are left: down to the last kept one in the ranking.
  struct State {
    int64_t start;
    Real max;
    Key key;
    int64_t id;
  };

  template <class Body>
  __device__ __forceinline__ void forEach(int64_t start, const Body& body) const {
    constexpr int kSize = Pack<Element>::kSize;
    for (int64_t at = int64_t{threadIdx.x} * kSize; at < columns; at += int64_t{kThreads} * kSize) {
      const Pack<Element> pack = readPack(logits, start + at, start + columns, aligned, lowest_());
#pragma unroll
      for (int i = 0; i < kSize; i++) {
        if (at + i < columns) body(widen(pack.at[i]), at + i);
      }
    }
  }
  __device__ __forceinline__ static Element lowest_() { return cuda::lowest<Element>(); }

  // 0 for a token that is out.
  __device__ __forceinline__ uint64_t weight(const State& state, Real x, int64_t id) const {
    const Key key = keyOf(x);
    const bool kept = key > state.key || (key == state.key && id <= state.id);
    if (!kept || !((static_cast<double>(x) - state.max) * inverse >= lowest)) return 0;
    return static_cast<uint64_t>(static_cast<double>(weightOf(x - state.max, factor, inverse)) * kUnit);
  }

  template <class Measure>
  __device__ __forceinline__ uint64_t total(const State& state, const Measure& measure) const {
    uint64_t sums[1] = {0};
    forEach(state.start, [&](Real x, int64_t id) { sums[0] += measure(weight(state, x, id)); });
    blockReduce(sums, Sum());
    return sums[0];
  }

  // By id, the first token among those of `key` (all, without one) at which the running sum passes `threshold`: each
  // warp sums a segment, then one walks its own.
  template <class Measure>
  __device__ __forceinline__ int64_t passesById(const State& state, const Measure& measure, uint64_t threshold,
                                                bool all, Key key) const {
    constexpr int kWarps = kThreads / kWarp;
    SHARED(uint64_t, segments, kWarps);
    SHARED(int64_t, found, 1);
    const int64_t length = (columns + kThreads - 1) / kThreads * kWarp, begin = warpIndex() * length;
    const int64_t end = begin + length < columns ? begin + length : columns;
    const auto measured = [&](int64_t id) {
      const Real x = widen(logits[state.start + id]);
      return all || keyOf(x) == key ? measure(weight(state, x, id)) : uint64_t{0};
    };
    uint64_t sum = 0;
    for (int64_t id = begin + laneIndex(); id < end; id += kWarp) sum += measured(id);
    sum = warpReduce(sum, Sum());
    if (laneIndex() == 0) segments[warpIndex()] = sum;
    __syncthreads();
    int warp = 0;
    uint64_t before = 0, after = segments[0];
    while (after <= threshold && warp < kWarps - 1) {
      warp++;
      before = after;
      after += segments[warp];
    }
    if (warpIndex() == warp) {
      for (int64_t at = begin; at < end; at += kWarp) {
        uint64_t running = at + laneIndex() < end ? measured(at + laneIndex()) : 0;
#pragma unroll
        for (int distance = 1; distance < kWarp; distance *= 2) {
          const uint64_t other = __shfl_up_sync(kAllLanes, running, distance);
          if (laneIndex() >= distance) running += other;
        }
        const uint32_t passed = __ballot_sync(kAllLanes, before + running > threshold);
        if (passed != 0) {
          if (laneIndex() == 0) found[0] = at + __ffs(static_cast<int>(passed)) - 1;
          break;
        }
        before += __shfl_sync(kAllLanes, running, kWarp - 1);
      }
    }
    __syncthreads();
    const int64_t id = found[0];
    __syncthreads();  // free for the next search
    return id;
  }

  // By rank, the first token at which the running sum passes `threshold`, which is below the whole sum.
  template <class Measure>
  __device__ __forceinline__ void passesByRank(const State& state, const Measure& measure, uint64_t threshold, Key& key,
                                               int64_t& id) const {
    key = 0;
    for (int shift = 8 * static_cast<int>(sizeof(Key)) - 2; shift >= 0; shift -= 2) {
      uint64_t sums[3] = {0, 0, 0};
      forEach(state.start, [&](Real x, int64_t i) {
        const uint64_t value = measure(weight(state, x, i));
        const Key own = keyOf(x);
#pragma unroll
        for (int digit = 0; digit < 3; digit++) {
          if (own >= (key | static_cast<Key>(digit + 1) << shift)) sums[digit] += value;
        }
      });
      blockReduce(sums, Sum());
      const int digit = sums[2] > threshold ? 3 : sums[1] > threshold ? 2 : sums[0] > threshold ? 1 : 0;
      key |= static_cast<Key>(digit) << shift;
    }
    uint64_t above[1] = {0};
    forEach(state.start, [&](Real x, int64_t i) {
      if (keyOf(x) > key) above[0] += measure(weight(state, x, i));
    });
    blockReduce(above, Sum());
    id = passesById(state, measure, threshold - above[0], false, key);
  }

  // The row's maximum; false without a defined distribution.
  __device__ __forceinline__ bool findMax(State& state) const {
    Real max[1] = {static_cast<Real>(-HUGE_VALF)};
    int bad[1] = {0};
    forEach(state.start, [&](Real x, int64_t) {
      max[0] = larger(max[0], x);
      if (x != x) bad[0] = 1;
    });
    blockReduce(max, Greatest());
    blockReduce(bad, Greatest());
    state.max = max[0];
    return bad[0] == 0 && max[0] - max[0] == 0;
  }

  __device__ void operator()() const {
    const int64_t row = blockIdx.x;
    State state{row * columns, 0, 0, columns};
    if (!findMax(state)) {
      if (threadIdx.x == 0) reportBad(status, row);
      return;
    }
    // Without min-p, which the whole distribution does not have.
    uint64_t whole[1] = {0};
    forEach(state.start, [&](Real x, int64_t) {
      whole[0] += static_cast<uint64_t>(static_cast<double>(weightOf(x - state.max, factor, inverse)) * kUnit);
    });
    blockReduce(whole, Sum());
    const bool truncates = topK > 0 || topP < 1 || lowest > -HUGE_VAL;
    uint64_t left = whole[0];
    int64_t token = 0;
    Key key = keyOf(state.max);
    if (greedy) {
      token = passesById(state, CountOne(), 0, false, key);
    } else {
      if (topK > 0 && static_cast<uint64_t>(topK) < total(state, CountOne())) {
        passesByRank(state, CountOne(), static_cast<uint64_t>(topK) - 1, key, token);
        state.key = key;
        state.id = token;
      }
      if (truncates) left = total(state, Weigh());
      if (topP < 1) {
        const double wanted = ceil(topP * static_cast<double>(left));
        const uint64_t before = wanted > 1 ? static_cast<uint64_t>(wanted) - 1 : 0;
        passesByRank(state, Weigh(), before < left ? before : left - 1, key, token);
        state.key = key;
        state.id = token;
        left = total(state, Weigh());
      }
      const uint64_t threshold = partOf(left, uniformAt(seed, counters[row]));
      if (truncates) {
        passesByRank(state, Weigh(), threshold, key, token);
      } else {
        token = passesById(state, Weigh(), threshold, true, key);
      }
    }
    if (threadIdx.x != 0) return;
    tokens[row] = static_cast<int32_t>(token);
    const double y = (static_cast<double>(widen(logits[state.start + token])) - state.max) * inverse;
    if (logProbs != nullptr) logProbs[row] = static_cast<T>(y - log(static_cast<double>(whole[0]) / kUnit) + 0.0);
    if (truncatedLogProbs != nullptr) {
      truncatedLogProbs[row] = greedy ? T(0) : static_cast<T>(y - log(static_cast<double>(left) / kUnit) + 0.0);
    }
  }
};

}  // namespace

template <class T>
void sampleTokens(const Matrix& logits, const SamplingRule& rule, uint64_t seed, const RandomCounter* counters,
                  const SamplingOutput<T>& out, int64_t* status, Stream stream) {
  resetStatus(status, stream);
  withElement<T>(logits.element, [&](auto kind) {
    using Element = std::remove_const_t<std::remove_pointer_t<decltype(kind)>>;
    const bool greedy = rule.temperature == 0;
    const double inverse = greedy ? 1 : 1 / rule.temperature;
    const double lowest = rule.minP > 0 && !greedy ? std::log(rule.minP) : -HUGE_VAL;
    launch(
        SampleRow<T, Element>{static_cast<const Element*>(logits.data), logits.columns, Tiles<Element>(logits).aligned,
                              greedy, inverse, rule.topP, lowest, static_cast<float>(inverse * kLog2e), rule.topK, seed,
                              counters, out.tokens, out.logProbs, out.truncatedLogProbs, status},
        {logits.rows, kRowThreads}, stream);
  });
}

template void sampleTokens(const Matrix&, const SamplingRule&, uint64_t, const RandomCounter*,
                           const SamplingOutput<float>&, int64_t*, Stream);
template void sampleTokens(const Matrix&, const SamplingRule&, uint64_t, const RandomCounter*,
                           const SamplingOutput<double>&, int64_t*, Stream);

}  // namespace minform::cuda
