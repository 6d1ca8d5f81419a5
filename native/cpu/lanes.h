// Building blocks of the kernels, written once and compiled per ISA level.
//
// Sums run over kLanes interleaved accumulators that are folded by a fixed tree. The compiler may turn the lane loops
// into vector code of any width without changing the order of a single addition, so all ISA levels give the same bits.
// Only for use inside the kernel files: everything lives in the namespace of the ISA level.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "arithmetic/exponential.h"
#include "memory.h"
#include "minform/pool.h"
#include "minform/ragged.h"

#ifndef MINFORM_ISA
#error "lanes.h belongs to the per-ISA kernel files"
#endif

namespace minform {
namespace MINFORM_ISA {

constexpr int kLanes = 16;

// Sum of kLanes double accumulators by a fixed tree.
inline double foldLanes(const double* lanes) {
  double s[8];
  for (int i = 0; i < 8; i++) s[i] = lanes[i] + lanes[i + 8];
  for (int i = 0; i < 4; i++) s[i] += s[i + 4];
  return (s[0] + s[2]) + (s[1] + s[3]);
}

template <class T>
inline T expm1Of(T x) {
  return static_cast<T>(::expm1(static_cast<double>(x)));
}

// Scratch array that frees itself.
template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t count) : data_(static_cast<T*>(scratchAllocate(sizeof(T) * static_cast<size_t>(count)))) {}
  ~Scratch() { scratchFree(data_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* get() { return data_; }
  T& operator[](int64_t i) { return data_[i]; }

 private:
  T* data_;
};

// body(i) for i in [0, count) on the pool. Each index must write only what belongs to it.
template <class Body>
inline void parallel(int64_t count, const Body& body) {
  parallelFor(
      count, [](void* context, int64_t index) { (*static_cast<const Body*>(context))(index); },
      const_cast<Body*>(&body));
}

// body(row) for every row, cut into chunks of about `grain` tokens. Small batches stay on the caller.
template <class Body>
inline void parallelRows(const Rows& rows, int64_t grain, const Body& body) {
  const int64_t chunks = rows.total() / grain + 1;
  if (chunks <= 1 || rows.count <= 1) {
    for (int64_t row = 0; row < rows.count; row++) body(row);
    return;
  }
  const int64_t pieces = smaller(chunks, rows.count);
  parallel(pieces, [&](int64_t piece) {
    const int64_t first = rows.count * piece / pieces, last = rows.count * (piece + 1) / pieces;
    for (int64_t row = first; row < last; row++) body(row);
  });
}

inline bool trained(const uint8_t* mask, int64_t index) { return mask == nullptr || mask[index] != 0; }

}  // namespace MINFORM_ISA
}  // namespace minform
