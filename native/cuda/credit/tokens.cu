// From step values to token values, and reward-to-go over tokens; a warp per row.
#include "launch.h"
#include "minform/cuda/credit.h"
#include "softmin.h"

namespace minform::cuda {
namespace {

template <class T>
struct PlaceSteps {
  static constexpr int kThreads = kRowWarps * kWarp;
  DeviceRows tokens, steps;
  Global<const int32_t> stepEnds;
  Global<const T> values;
  Place place;
  Global<const uint8_t> zeroAt, mask;
  Global<T> out;

  __device__ void operator()() const {
    const int64_t row = rowOfWarp();
    if (row >= tokens.count) return;
    const int64_t first = tokens.begin(row), end = tokens.end(row);
    int64_t at = first;
    for (int64_t step = steps.begin(row); step < steps.end(row); step++) {
      const int64_t last = first + stepEnds[step];
      const T value = values[step];
      for (int64_t i = at + laneIndex(); i <= last; i += kWarp) {
        const bool here = place == Place::span || i == last;
        out[i] = here && trained(mask, i) && (zeroAt == nullptr || zeroAt[i] == 0) ? value : T(0);
      }
      at = last + 1;
    }
    for (int64_t i = at + laneIndex(); i < end; i += kWarp) out[i] = T(0);
  }
};

// tail -> slope * tail + value: what a run of tokens does to the return that follows it.
struct Discount {
  double slope, value;
};

template <class T>
struct Returns {
  static constexpr int kThreads = kRowWarps * kWarp;
  DeviceRows tokens;
  Global<const T> rewards;
  Global<const uint8_t> mask;
  double gamma;
  Global<T> out;
  Global<int64_t> status;

  // From the last token to the first, one token per lane; the maps of a lane and all earlier ones (later tokens) are
  // composed by a scan.
  __device__ void operator()() const {
    const int64_t row = rowOfWarp();
    if (row >= tokens.count) return;
    const int64_t begin = tokens.begin(row), end = tokens.end(row);
    double tail = 0;
    for (int64_t top = end; top > begin; top -= kWarp) {
      const int64_t i = top - 1 - laneIndex();
      const bool inside = i >= begin, counts = inside && trained(mask, i);
      Discount map{1, 0};
      if (counts) {
        const T reward = rewards[i];
        if (!isFinite(reward)) reportBad(status, i);
        map = {gamma, static_cast<double>(reward)};
      }
#pragma unroll
      for (int distance = 1; distance < kWarp; distance *= 2) {
        const double slope = __shfl_up_sync(kAllLanes, map.slope, distance);
        const double value = __shfl_up_sync(kAllLanes, map.value, distance);
        if (laneIndex() >= distance) map = {map.slope * slope, map.value + map.slope * value};
      }
      const double value = map.value + map.slope * tail;
      tail = __shfl_sync(kAllLanes, value, kWarp - 1);
      if (inside) out[i] = counts ? static_cast<T>(value + 0.0) : T(0);
    }
  }
};

}  // namespace

template <class T>
void creditPlaceSteps(const Rows& tokens, const Rows& steps, const int32_t* stepEnds, const T* values, Place place,
                      const uint8_t* zeroAt, const uint8_t* mask, T* out, Stream stream) {
  launch(PlaceSteps<T>{DeviceRows(tokens), DeviceRows(steps), stepEnds, values, place, zeroAt, mask, out},
         warpPerRow(tokens.count), stream);
}

template <class T>
void creditReturns(const Rows& tokens, const T* rewards, const uint8_t* mask, double gamma, T* out, int64_t* status,
                   Stream stream) {
  resetStatus(status, stream);
  launch(Returns<T>{DeviceRows(tokens), rewards, mask, gamma, out, status}, warpPerRow(tokens.count), stream);
}

template void creditPlaceSteps(const Rows&, const Rows&, const int32_t*, const float*, Place, const uint8_t*,
                               const uint8_t*, float*, Stream);
template void creditPlaceSteps(const Rows&, const Rows&, const int32_t*, const double*, Place, const uint8_t*,
                               const uint8_t*, double*, Stream);
template void creditReturns(const Rows&, const float*, const uint8_t*, double, float*, int64_t*, Stream);
template void creditReturns(const Rows&, const double*, const uint8_t*, double, double*, int64_t*, Stream);

}  // namespace minform::cuda
