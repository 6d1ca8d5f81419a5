#include "memory.h"

#include <cstdlib>
#include <new>

namespace minform {

void* scratchAllocate(size_t bytes) {
  void* memory = nullptr;
  if (posix_memalign(&memory, 64, bytes == 0 ? 64 : bytes) != 0) throw std::bad_alloc();
  return memory;
}

void scratchFree(void* memory) { std::free(memory); }

}  // namespace minform
