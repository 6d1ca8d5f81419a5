// Reward-to-go and generalised advantage estimation, as scans over the rows; a warp per row.
#include "launch.h"
#include "minform/cuda/advantage.h"
#include "scan.h"

namespace minform::cuda {
namespace {

template <class T>
struct RewardToGo {
  static constexpr int kThreads = kRowWarps * kWarp;
  DeviceRows tokens;
  Global<const T> rewards;
  Global<const uint8_t> mask;
  double gamma;
  Global<const T> baselines;  // or null
  Global<T> advantages, returns;
  Global<int64_t> status;

  __device__ void operator()() const {
    const int64_t row = rowOfWarp();
    if (row >= tokens.count) return;
    const int64_t begin = tokens.begin(row), end = tokens.end(row);
    const double baseline = baselines == nullptr ? 0 : static_cast<double>(baselines[row]);
    double tail = 0;
    for (int64_t top = end; top > begin; top -= kWarp) {
      const int64_t i = top - 1 - laneIndex();
      const bool counts = i >= begin && trained(mask, i);
      const double reward = counts ? static_cast<double>(rewards[i]) : 0;
      if (!isFinite(reward)) reportBad(status, i);
      const double value = advance(counts ? Affine{gamma, reward} : Affine{1, 0}, tail);
      if (i < begin) continue;
      advantages[i] = counts ? saturated(value - baseline, T(0)) : T(0);
      returns[i] = counts ? saturated(value, T(0)) : T(0);
    }
  }
};

// delta_t = R_t + gamma V_next - V_t, A_t = delta_t + gamma lambda A_next, over the counted tokens; after the last one
// stands the bootstrap value.
template <class T>
struct Gae {
  static constexpr int kThreads = kRowWarps * kWarp;
  DeviceRows tokens;
  Global<const T> rewards, values;
  Global<const uint8_t> mask;
  Global<const T> bootstrap;  // or null
  double gamma, carry, valueCarry;
  Global<T> advantages, returns;
  Global<int64_t> status;

  __device__ void operator()() const {
    const int64_t row = rowOfWarp();
    if (row >= tokens.count) return;
    const int64_t begin = tokens.begin(row), end = tokens.end(row);
    double nextValue = bootstrap == nullptr ? 0 : static_cast<double>(bootstrap[row]);
    double advantageTail = 0, valueTail = 0;
    for (int64_t top = end; top > begin; top -= kWarp) {
      const int64_t i = top - 1 - laneIndex();
      const bool counts = i >= begin && trained(mask, i);
      const double value = counts ? static_cast<double>(values[i]) : 0;
      const double reward = counts ? static_cast<double>(rewards[i]) : 0;
      if (!isFinite(value) || !isFinite(reward)) reportBad(status, i);

      // The value of the next counted token, which an earlier lane holds or `nextValue`.
      const uint32_t votes = __ballot_sync(kAllLanes, counts), later = votes & ((1u << laneIndex()) - 1);
      const double held = __shfl_sync(kAllLanes, value, later == 0 ? laneIndex() : 31 - __clz(static_cast<int>(later)));
      const double next = later == 0 ? nextValue : held;
      const double lowest = __shfl_sync(kAllLanes, value, votes == 0 ? 0 : 31 - __clz(static_cast<int>(votes)));
      if (votes != 0) nextValue = lowest;

      const double delta = finite(finite(reward + gamma * next) - value);
      const double advantage = advance(counts ? Affine{carry, delta} : Affine{1, 0}, advantageTail);
      const double ofValue = advance(counts ? Affine{valueCarry, delta} : Affine{1, 0}, valueTail);
      if (i < begin) continue;
      advantages[i] = counts ? saturated(advantage, T(0)) : T(0);
      returns[i] = counts ? saturated(ofValue + value, T(0)) : T(0);
    }
  }
};

}  // namespace

template <class T>
void advantageRewardToGo(const Rows& tokens, const T* rewards, const uint8_t* mask, double gamma, const T* baselines,
                         T* advantages, T* returns, int64_t* status, Stream stream) {
  resetStatus(status, stream);
  launch(RewardToGo<T>{DeviceRows(tokens), rewards, mask, gamma, baselines, advantages, returns, status},
         warpPerRow(tokens.count), stream);
}

template <class T>
void advantageGae(const GaeInput<T>& in, T* advantages, T* returns, int64_t* status, Stream stream) {
  resetStatus(status, stream);
  launch(Gae<T>{DeviceRows(in.tokens), in.rewards, in.values, in.mask, in.bootstrap, in.gamma, in.gamma * in.lambda,
                in.gamma * in.valueLambda, advantages, returns, status},
         warpPerRow(in.tokens.count), stream);
}

template void advantageRewardToGo(const Rows&, const float*, const uint8_t*, double, const float*, float*, float*,
                                  int64_t*, Stream);
template void advantageRewardToGo(const Rows&, const double*, const uint8_t*, double, const double*, double*, double*,
                                  int64_t*, Stream);
template void advantageGae(const GaeInput<float>&, float*, float*, int64_t*, Stream);
template void advantageGae(const GaeInput<double>&, double*, double*, int64_t*, Stream);

}  // namespace minform::cuda
