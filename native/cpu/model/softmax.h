// One row of attention weights. Keys are counted from the start of the sequence and sit in the lane of their index, so
// a row's bits are the same whether it is computed alone or among others.
#pragma once

#include "gemm/gemm.h"
#include "model/family.h"

namespace minform {
namespace MINFORM_ISA {

// scores[j] belongs to key from + j; `from` and `count` are multiples of kLanes. Keys in [low, high) count: the others
// become 0. Leaves exp((score - max) * scale); returns max * scale and their sum.
struct SoftmaxRow {
  double offset, sum;
};

template <class T>
inline SoftmaxRow softmaxRow(T* scores, int64_t from, int64_t count, int64_t low, int64_t high, T scale) {
  for (int64_t j = 0; j < low - from; j++) scores[j] = -HUGE_VALF;
  for (int64_t j = high - from; j < count; j++) scores[j] = -HUGE_VALF;
  T most[kLanes];
  for (int lane = 0; lane < kLanes; lane++) most[lane] = scores[lane];
  for (int64_t j = kLanes; j < count; j += kLanes) {
    for (int lane = 0; lane < kLanes; lane++) most[lane] = larger(most[lane], scores[j + lane]);
  }
  T max = most[0];
  for (int lane = 1; lane < kLanes; lane++) max = larger(max, most[lane]);
  double sums[kLanes] = {};
  for (int64_t j = 0; j < count; j += kLanes) {
    for (int lane = 0; lane < kLanes; lane++) scores[j + lane] = expOf((scores[j + lane] - max) * scale);
    for (int lane = 0; lane < kLanes; lane++) sums[lane] += static_cast<double>(scores[j + lane]);
  }
  return {static_cast<double>(max) * scale, foldLanes(sums)};
}

// The first key that a query sees, and the same rounded down to a whole panel.
inline int64_t firstSeen(int64_t query, int64_t window) {
  return window > 0 && query >= window ? query - window + 1 : 0;
}

template <class T>
constexpr int64_t kKeyPanel = kPanel<T> > kLanes ? kPanel<T> : int64_t{kLanes};

template <class T>
inline int64_t panelStart(int64_t key) {
  return key / kKeyPanel<T> * kKeyPanel<T>;
}

template <class T>
inline int64_t panelEnd(int64_t keys) {
  return (keys + kKeyPanel<T> - 1) / kKeyPanel<T> * kKeyPanel<T>;
}

}  // namespace MINFORM_ISA
}  // namespace minform
