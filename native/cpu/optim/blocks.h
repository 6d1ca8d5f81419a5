// Flat arrays cut into blocks of a fixed size, so that neither results nor the choice of blocks depend on threads.
#pragma once

#include "lanes.h"

namespace minform {
namespace MINFORM_ISA {

constexpr int64_t kBlock = 1 << 15;

// A core reads one array faster as several streams than as one: more loads are under way at a time. Kernels that read
// a single array walk this many equal parts of a block side by side.
constexpr int kStreams = 8;

inline int64_t blockCount(int64_t count) { return (count + kBlock - 1) / kBlock; }

// body(block, begin, end) for every block, on the pool.
template <class Body>
inline void parallelBlocks(int64_t count, const Body& body) {
  const auto run = [&](int64_t block) { body(block, block * kBlock, smaller((block + 1) * kBlock, count)); };
  parallel(blockCount(count), run);
}

// finds(begin, end) for every block returns whether the block holds what is looked for; isIt(i) says which element.
// Gives the first such element, or kOk. A pass that follows another one over the same memory goes backwards: it then
// starts with what the caches still hold.
enum class Order { forwards, backwards };
template <class Finds, class IsIt>
inline int64_t firstWhere(int64_t count, Order order, const Finds& finds, const IsIt& isIt) {
  Scratch<uint8_t> found(blockCount(count) + 1);
  const int64_t blocks = blockCount(count);
  parallel(blocks, [&](int64_t index) {
    const int64_t block = order == Order::forwards ? index : blocks - 1 - index;
    found[block] = finds(block * kBlock, smaller((block + 1) * kBlock, count)) ? 1 : 0;
  });
  for (int64_t block = 0; block < blocks; block++) {
    if (found[block] == 0) continue;
    for (int64_t i = block * kBlock; i < count; i++) {
      if (isIt(i)) return i;
    }
  }
  return kOk;
}

}  // namespace MINFORM_ISA
}  // namespace minform
