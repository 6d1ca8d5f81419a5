// Scratch memory for kernels. The ISA-flagged files use no standard-library templates: the linker keeps one copy of
// each, and it could be the AVX-512 one.
#pragma once

#include <cstddef>

namespace minform {

// 64-byte aligned; throws std::bad_alloc.
void* scratchAllocate(size_t bytes);
void scratchFree(void* memory);

}  // namespace minform
