// What the files of the family share.
#pragma once

#include "lanes.h"
#include "minform/model_kernels.h"

namespace minform {
namespace MINFORM_ISA {

// body(first, last) for chunks of rows on the pool; about 16k elements each.
template <class Body>
inline void parallelChunks(int64_t rows, int64_t width, const Body& body) {
  const int64_t each = larger<int64_t>(1, 16384 / width), chunks = (rows + each - 1) / each;
  parallel(chunks, [&](int64_t chunk) { body(chunk * each, smaller(rows, (chunk + 1) * each)); });
}

// sum of a[i] * b[i] in float64, by lanes.
template <class T>
inline double dot(const T* a, const T* b, int64_t count) {
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; lane++) lanes[lane] += static_cast<double>(a[i + lane]) * b[i + lane];
  }
  for (int lane = 0; i + lane < count; lane++) lanes[lane] += static_cast<double>(a[i + lane]) * b[i + lane];
  return foldLanes(lanes);
}

}  // namespace MINFORM_ISA
}  // namespace minform
