// A batch for tests of advantages: groups of one, two and many, empty and odd rows, rows without a counted token, junk
// where the mask hides it.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "device_test.h"
#include "minform/cuda/advantage.h"

namespace minform::cuda {

inline const std::vector<int32_t> kLengths{5, 1, 31, 32, 33, 300, 0, 64, 7, 2, 129, 40};
inline const std::vector<int32_t> kGroups{0, 2, 2, 0, 4, 2, 0, 5, 5, 0, 2, 2};  // 1 and 3 have no row, 4 has one
constexpr int64_t kGroupCount = 6;

template <class T>
constexpr double kBound = sizeof(T) == sizeof(double) ? 1e-12 : 1e-7;

template <class T>
struct Batch {
  Deviates random;
  std::vector<int32_t> offsets = offsetsOf(kLengths);
  size_t rows = kLengths.size(), total = static_cast<size_t>(offsets.back());
  std::vector<uint8_t> mask;
  std::vector<int32_t> stepOffsets{0}, stepEnds;

  explicit Batch(bool masked, uint32_t seed = 3) : random(seed) {
    for (size_t i = 0; i < total && masked; i++) mask.push_back(random.bits() % 3 != 0);
    if (masked) std::fill(mask.begin() + offsets[8], mask.begin() + offsets[9], uint8_t{0});
    for (size_t row = 0; row < rows; row++) {
      int32_t end = static_cast<int32_t>(random.bits() % 4);
      for (; end < kLengths[row]; end += 1 + static_cast<int32_t>(random.bits() % 9)) stepEnds.push_back(end);
      stepOffsets.push_back(static_cast<int32_t>(stepEnds.size()));
    }
  }
  const uint8_t* maskOrNull() const { return mask.empty() ? nullptr : mask.data(); }
  Rows tokens() const { return {offsets.data(), static_cast<int64_t>(rows)}; }
  Rows steps() const { return {stepOffsets.data(), static_cast<int64_t>(rows)}; }
  // NaN where the mask hides it; 0 for all but one in `sparsity`.
  std::vector<T> perToken(double scale, uint32_t sparsity = 1) {
    std::vector<T> values = random.many<T>(total, scale);
    for (size_t i = 0; i < total; i++) {
      if (random.bits() % sparsity != 0) values[i] = T(0);
      if (!mask.empty() && mask[i] == 0) values[i] = T(NAN);
    }
    return values;
  }
};

template <class T>
struct OnDevice {
  Uploaded<int32_t> offsets, stepOffsets, stepEnds, groups;
  Uploaded<uint8_t> mask;
  int64_t rows;
  explicit OnDevice(const Batch<T>& from)
      : offsets(from.offsets),
        stepOffsets(from.stepOffsets),
        stepEnds(from.stepEnds),
        groups(kGroups),
        mask(from.mask),
        rows(static_cast<int64_t>(from.rows)) {}
  Rows tokens() const { return {offsets.get(), rows}; }
  Rows steps() const { return {stepOffsets.get(), rows}; }
};

inline bool sameStats(const GroupStats& a, const GroupStats& b) {
  return a.groups == b.groups && a.singletons == b.singletons && a.zeroVariance == b.zeroVariance &&
         a.excluded == b.excluded && a.firstSingleton == b.firstSingleton;
}

}  // namespace minform::cuda
