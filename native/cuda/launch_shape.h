// The shape of a launch, as host code sees it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace minform::cuda {

struct Shape {
  int64_t blocks;  // none: nothing is launched
  int threads;     // per block, at most the kernel's kThreads
  size_t dynamicShared = 0;
};

// Throws Failure unless the shape fits the launch bound and the device.
void checkShape(const Shape& shape, int bound);

}  // namespace minform::cuda
