// Dense row-major matrices of any element type that the kernels read.
#pragma once

#include <cstdint>

namespace minform {

enum class Element : int32_t { float32 = 0, float64 = 1, bfloat16 = 2, float16 = 3 };

struct Matrix {
  const void* data;  // without gaps between rows
  Element element;
  int64_t rows, columns;
};

}  // namespace minform
