// How rows of logits are cut: fixed tiles that one block holds in registers, so that all loads of a tile are in flight
// at once and the logits are read from memory only once.
#pragma once

#include "elements.h"
#include "launch.h"
#include "minform/matrix.h"
#include "reduce.h"

namespace minform::cuda {

constexpr int kTileThreads = 256;
constexpr int kPacks = 8;  // per thread

template <class Element>
struct Tiles {
  static constexpr int64_t kColumns = int64_t{kTileThreads} * kPacks * Pack<Element>::kSize;

  int64_t rows, columns, perRow;
  int threads;   // fewer for rows that are shorter than a tile
  bool aligned;  // whether all rows start on 16 bytes

  explicit Tiles(const Matrix& logits)
      : rows(logits.rows), columns(logits.columns), perRow(ceilDivide(columns, kColumns)) {
    const int64_t wanted = ceilDivide(columns, int64_t{kPacks} * Pack<Element>::kSize);
    threads = static_cast<int>(perRow > 1 ? kTileThreads : ceilDivide(wanted, kWarp) * kWarp);
    aligned = columns % Pack<Element>::kSize == 0 && reinterpret_cast<uintptr_t>(logits.data) % 16 == 0;
  }

  Shape shape() const { return {rows * perRow, threads}; }

  __device__ __forceinline__ int64_t row() const { return blockIdx.x / perRow; }
  // Where in its row the pack of this thread starts.
  __device__ __forceinline__ int64_t column(int pack) const {
    return blockIdx.x % perRow * kColumns + (int64_t{pack} * blockDim.x + threadIdx.x) * Pack<Element>::kSize;
  }
};

// Calls body with a null pointer of the element's type.
template <class T, class Body>
void withElement(Element element, const Body& body) {
  if constexpr (sizeof(T) == sizeof(double)) {
    body(static_cast<const double*>(nullptr));
  } else if (element == Element::bfloat16) {
    body(static_cast<const Bfloat16*>(nullptr));
  } else if (element == Element::float16) {
    body(static_cast<const Float16*>(nullptr));
  } else {
    body(static_cast<const float*>(nullptr));
  }
}

}  // namespace minform::cuda
