// The fastest read of memory that can be measured: every kernel that is bound by reading is held against it.
#pragma once

#include <cstdint>

#include "minform/cuda/runtime.h"

namespace minform::cuda {

// One sum per block of kReadElements; `count` is a multiple of it.
constexpr int64_t kReadElements = 256 * 8 * 4;
void readAll(const float* data, int64_t count, float* sums, Stream stream);

}  // namespace minform::cuda
