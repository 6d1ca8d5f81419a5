// Sums of reward streams: a value per response onto its tokens, verifiable rewards, and the KL penalty in the reward.
#include "launch.h"
#include "minform/cuda/advantage.h"
#include "reduce.h"
#include "rows.h"

namespace minform::cuda {
namespace {

// A warp per row.
template <class T>
struct AddPerRow {
  static constexpr int kThreads = kRowWarps * kWarp;
  DeviceRows tokens;
  Global<const T> base;  // or null
  Global<const T> perRow;
  double scale;
  Spread spread;
  Global<const uint8_t> mask;
  Global<T> out;
  Global<int64_t> status;

  // The last counted token, or one before the row.
  __device__ int64_t lastCounted(int64_t begin, int64_t end) const {
    for (int64_t top = end; top > begin; top -= kWarp) {
      const int64_t i = top - 1 - laneIndex();
      const uint32_t votes = __ballot_sync(kAllLanes, i >= begin && trained(mask, i));
      if (votes != 0) return top - __ffs(static_cast<int>(votes));
    }
    return begin - 1;
  }

  __device__ void operator()() const {
    const int64_t row = rowOfWarp();
    if (row >= tokens.count) return;
    const int64_t begin = tokens.begin(row), end = tokens.end(row);
    const double added = finite(scale * perRow[row]);
    const int64_t last = spread == Spread::last ? lastCounted(begin, end) : -1;
    for (int64_t i = begin + laneIndex(); i < end; i += kWarp) {
      T value = 0;
      if (trained(mask, i)) {
        const double own = base == nullptr ? 0 : static_cast<double>(base[i]);
        if (!isFinite(own)) reportBad(status, i);
        value = saturated(own + (spread == Spread::every || i == last ? added : 0), T(0));
      }
      out[i] = value;
    }
  }
};

template <class T>
struct CodeVerifiable {
  static constexpr int kThreads = 256;
  int64_t rows;
  Global<const T> verifiable;
  double shift;
  Global<T> out;
  Global<int64_t> status;

  __device__ void operator()() const {
    const int64_t row = elementOfThread();
    if (row >= rows) return;
    const T value = verifiable[row];
    if (!isNaN(value) && value != 0 && value != 1) reportBad(status, row);
    out[row] = isNaN(value) ? T(0) : static_cast<T>(static_cast<double>(value) + shift + 0.0);
  }
};

// A warp per row.
template <class T>
struct ScorableTokens {
  static constexpr int kThreads = kRowWarps * kWarp;
  DeviceRows tokens;
  Global<const T> rewards;
  Global<const uint8_t> mask;
  Global<uint8_t> out;

  __device__ void operator()() const {
    const int64_t row = rowOfWarp();
    if (row >= tokens.count) return;
    const bool scorable = !isNaN(static_cast<T>(rewards[row]));
    for (int64_t i = tokens.begin(row) + laneIndex(); i < tokens.end(row); i += kWarp) {
      out[i] = static_cast<uint8_t>(scorable && trained(mask, i) ? 1 : 0);
    }
  }
};

template <class T>
struct KlReward {
  static constexpr int kThreads = 256;
  int64_t tokens;
  Global<const T> rewards, kl;
  double coefficient;
  Global<const uint8_t> mask;
  Global<T> out;
  Global<int64_t> status;

  __device__ void operator()() const {
    const int64_t i = elementOfThread();
    if (i >= tokens) return;
    T value = 0;
    if (trained(mask, i)) {
      const double reward = rewards[i], penalty = kl[i];
      if (!isFinite(reward) || !isFinite(penalty)) reportBad(status, i);
      value = saturated(reward - finite(coefficient * penalty), T(0));
    }
    out[i] = value;
  }
};

}  // namespace

template <class T>
void advantageAddPerRow(const Rows& tokens, const T* base, const T* perRow, double scale, Spread spread,
                        const uint8_t* mask, T* out, int64_t* status, Stream stream) {
  resetStatus(status, stream);
  launch(AddPerRow<T>{DeviceRows(tokens), base, perRow, scale, spread, mask, out, status}, warpPerRow(tokens.count),
         stream);
}

template <class T>
void advantageCodeVerifiable(int64_t rows, const T* verifiable, double shift, T* out, int64_t* status, Stream stream) {
  resetStatus(status, stream);
  launch(CodeVerifiable<T>{rows, verifiable, shift, out, status}, threadPerElement(rows, CodeVerifiable<T>::kThreads),
         stream);
}

template <class T>
void advantageScorableTokens(const Rows& tokens, const T* rewards, const uint8_t* mask, uint8_t* out, Stream stream) {
  launch(ScorableTokens<T>{DeviceRows(tokens), rewards, mask, out}, warpPerRow(tokens.count), stream);
}

template <class T>
void advantageKlReward(int64_t tokens, const T* rewards, const T* kl, double coefficient, const uint8_t* mask, T* out,
                       int64_t* status, Stream stream) {
  resetStatus(status, stream);
  launch(KlReward<T>{tokens, rewards, kl, coefficient, mask, out, status},
         threadPerElement(tokens, KlReward<T>::kThreads), stream);
}

template void advantageAddPerRow(const Rows&, const float*, const float*, double, Spread, const uint8_t*, float*,
                                 int64_t*, Stream);
template void advantageAddPerRow(const Rows&, const double*, const double*, double, Spread, const uint8_t*, double*,
                                 int64_t*, Stream);
template void advantageCodeVerifiable(int64_t, const float*, double, float*, int64_t*, Stream);
template void advantageCodeVerifiable(int64_t, const double*, double, double*, int64_t*, Stream);
template void advantageScorableTokens(const Rows&, const float*, const uint8_t*, uint8_t*, Stream);
template void advantageScorableTokens(const Rows&, const double*, const uint8_t*, uint8_t*, Stream);
template void advantageKlReward(int64_t, const float*, const float*, double, const uint8_t*, float*, int64_t*, Stream);
template void advantageKlReward(int64_t, const double*, const double*, double, const uint8_t*, double*, int64_t*,
                                Stream);

}  // namespace minform::cuda
