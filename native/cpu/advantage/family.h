// What the files of this family share besides groups.h.
#pragma once

#include "lanes.h"
#include "minform/advantage.h"

namespace minform {
namespace MINFORM_ISA {

// Counted tokens in [first, last].
inline int64_t countTokens(const uint8_t* mask, int64_t first, int64_t last) {
  if (mask == nullptr) return last - first + 1;
  int64_t counted = 0;
  for (int64_t i = first; i <= last; i++) counted += mask[i] != 0;
  return counted;
}

// out[first .. last] = value. Loops of their own, so that they become vector stores.
template <class T>
__attribute__((noinline)) inline void fillLong(T* out, int64_t count, T value) {
  for (int64_t i = 0; i < count; i++) out[i] = value;
}
template <class T>
inline void fillTokens(T* out, int64_t first, int64_t last, T value) {
  if (first == last) {
    out[last] = value;
  } else {
    fillLong(out + first, last - first + 1, value);
  }
}

// The same with +0 where the mask is 0.
template <class T>
__attribute__((noinline)) inline void fillCountedLong(T* out, const uint8_t* mask, int64_t count, T value) {
  for (int64_t i = 0; i < count; i++) out[i] = mask[i] != 0 ? value : T(0);
}
template <class T>
inline void fillCounted(T* out, int64_t first, int64_t last, T value, const uint8_t* mask) {
  if (first == last) {
    out[last] = mask[last] != 0 ? value : T(0);
  } else {
    fillCountedLong(out + first, mask + first, last - first + 1, value);
  }
}

// The flat index of the first counted element that is NaN or infinite, or kOk.
template <class T>
inline int64_t firstNonFinite(const T* values, const uint8_t* mask, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) {
    if (trained(mask, i) && !isFinite(values[i])) return i;
  }
  return kOk;
}

// The first status that is not kOk, in row order.
inline int64_t firstBad(const int64_t* status, int64_t rows) {
  for (int64_t row = 0; row < rows; row++) {
    if (status[row] != kOk) return status[row];
  }
  return kOk;
}

// body(block) for every block, `grain` of them at a time on the pool.
template <class Body>
inline void parallelBlocks(int64_t blocks, int64_t grain, const Body& body) {
  parallel((blocks + grain - 1) / grain, [&](int64_t piece) {
    for (int64_t block = piece * grain; block < smaller((piece + 1) * grain, blocks); block++) body(block);
  });
}

template <class T>
int64_t outcomes(const OutcomeRule&, const OutcomeInput<T>&, const Groups&, T*, GroupStats*);
template <class T>
int64_t tokenRloo(const BaselineRule&, const TokenRewards<T>&, const Groups&, T*, T*, GroupStats*);
template <class T>
int64_t stepRloo(const BaselineRule&, const StepRewards<T>&, const Groups&, T*, T*, GroupStats*);
template <class T>
int64_t rewardToGo(const Rows&, const T*, const uint8_t*, double, const T*, T*, T*);
template <class T>
int64_t gae(const GaeInput<T>&, T*, T*);
template <class T>
int64_t optimalBaseline(const OptimalBaselineInput<T>&, const Groups&, T*, T*, GroupStats*);
template <class T>
int64_t whiten(const WhitenRule&, int64_t, const T*, const uint8_t*, T*);
template <class T>
int64_t addPerRow(const Rows&, const T*, const T*, double, Spread, const uint8_t*, T*);
template <class T>
int64_t codeVerifiable(int64_t, const T*, double, T*);
template <class T>
int64_t scorableTokens(const Rows&, const T*, const uint8_t*, uint8_t*);
template <class T>
int64_t klReward(const Rows&, const T*, const T*, double, const uint8_t*, T*);

}  // namespace MINFORM_ISA
}  // namespace minform
