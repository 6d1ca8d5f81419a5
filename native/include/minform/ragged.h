// Row layout shared by all families: row i of a ragged array is data[offsets[i] .. offsets[i + 1]).
#pragma once

#include <cstdint>

namespace minform {

struct Rows {
  const int32_t* offsets;  // count + 1 entries, offsets[0] == 0, never falling
  int64_t count;

  int64_t begin(int64_t row) const { return offsets[row]; }
  int64_t end(int64_t row) const { return offsets[row + 1]; }
  int64_t length(int64_t row) const { return offsets[row + 1] - offsets[row]; }
  int64_t total() const { return offsets[count]; }
};

// What a kernel returns: the flat index of the first element that must not be NaN and is, or kOk.
constexpr int64_t kOk = -1;

}  // namespace minform
