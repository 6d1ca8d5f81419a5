// Elements that a chunk of logits may have at most, kChunkLimit or more: for tests, which cannot afford chunks of the
// usual size.
#pragma once

#include <cstdint>

namespace minform::cuda {

constexpr int64_t kChunkLimit = 16384;

inline int64_t& chunkLimit() {
  static int64_t limit = INT64_MAX;
  return limit;
}

}  // namespace minform::cuda
