#include "gemm/gemm.h"

namespace minform {
namespace MINFORM_ISA {

template <class T>
void leftFromRows(const Matrix& source, int64_t firstRow, int64_t rows, int64_t firstColumn, int64_t depth, T* left) {
  for (int64_t i = 0; i < rows; i++) {
    readElements(source.data, source.element, (firstRow + i) * source.columns + firstColumn, depth,
                 left + i * kLeftStride);
  }
}

template <class T>
void leftFromColumns(const T* source, int64_t stride, int64_t rows, int64_t depth, T* left) {
  constexpr int64_t kSquare = 16;  // both sides of a square stay in the first-level cache
  for (int64_t k0 = 0; k0 < depth; k0 += kSquare) {
    const int64_t kEnd = smaller(depth, k0 + kSquare);
    for (int64_t i = 0; i < rows; i++) {
      for (int64_t k = k0; k < kEnd; k++) left[i * kLeftStride + k] = source[k * stride + i];
    }
  }
}

template <class T>
void panelsFromRows(const Matrix& source, int64_t firstRow, int64_t columns, int64_t firstColumn, int64_t depth,
                    T* panels) {
  T row[kDepth];
  for (int64_t j = 0; j < panelsOf<T>(columns) * kPanel<T>; j++) {
    T* to = panels + j / kPanel<T> * kPanel<T> * depth + j % kPanel<T>;
    if (j < columns)
      readElements(source.data, source.element, (firstRow + j) * source.columns + firstColumn, depth, row);
    for (int64_t k = 0; k < depth; k++) to[k * kPanel<T>] = j < columns ? row[k] : T(0);
  }
}

template <class T>
void panelsFromColumns(const Matrix& source, int64_t firstRow, int64_t depth, T* panels) {
  for (int64_t k = 0; k < depth; k++) {
    for (int64_t j = 0; j < source.columns; j += kPanel<T>) {
      T* to = panels + j * depth + k * kPanel<T>;
      const int64_t count = smaller(kPanel<T>, source.columns - j);
      readElements(source.data, source.element, (firstRow + k) * source.columns + j, count, to);
      for (int64_t pad = count; pad < kPanel<T>; pad++) to[pad] = T(0);
    }
  }
}

template <class T>
void panelFromRows(const T* source, int64_t stride, int64_t columns, int64_t depth, T* panel) {
  constexpr int64_t kSquare = 8;
  for (int64_t k = 0; k < depth; k += kSquare) {
    const int64_t count = smaller(kSquare, depth - k);
    for (int64_t j = 0; j < columns; j++) {
      const T* from = source + j * stride + k;
      for (int64_t i = 0; i < count; i++) panel[(k + i) * kPanel<T> + j] = from[i];
    }
    for (int64_t i = 0; i < count; i++) {
      for (int64_t j = columns; j < kPanel<T>; j++) panel[(k + i) * kPanel<T> + j] = T(0);
    }
  }
}

template <class T>
void panelFromColumns(const T* source, int64_t stride, int64_t columns, int64_t depth, T* panel) {
  for (int64_t k = 0; k < depth; k++) {
    T* to = panel + k * kPanel<T>;
    if (columns == kPanel<T>) {
      __builtin_memcpy(to, source + k * stride, kPanel<T> * sizeof(T));
      continue;
    }
    for (int64_t j = 0; j < columns; j++) to[j] = source[k * stride + j];
    for (int64_t j = columns; j < kPanel<T>; j++) to[j] = T(0);
  }
}

template <class T>
void interleaveColumns(const T* source, int64_t stride, int64_t rows, int64_t depth, T* left) {
  constexpr int64_t kSquare = 32;  // so many rows of the source stay in the first-level cache
  for (int64_t begin = 0; begin < depth; begin += kSquare) {
    const int64_t end = smaller(depth, begin + kSquare);
    for (int64_t k = end; k < smaller(depth, end + kSquare); k++) {
      for (int64_t i = 0; i < rows; i += 64 / static_cast<int64_t>(sizeof(T)))
        __builtin_prefetch(source + k * stride + i);
    }
    int64_t i = 0;
    for (; i + kTileRows <= rows; i += kTileRows) {
      T* tile = left + i * depth;
      for (int64_t k = begin; k < end; k++)
        __builtin_memcpy(tile + k * kTileRows, source + k * stride + i, kTileRows * sizeof(T));
    }
    for (int64_t r = 0; i + r < rows; r++) {
      for (int64_t k = begin; k < end; k++) left[i * depth + k * kTileRows + r] = source[k * stride + i + r];
    }
  }
}

#define MINFORM_INSTANTIATE(T)                                                         \
  template void leftFromRows(const Matrix&, int64_t, int64_t, int64_t, int64_t, T*);   \
  template void leftFromColumns(const T*, int64_t, int64_t, int64_t, T*);              \
  template void panelsFromRows(const Matrix&, int64_t, int64_t, int64_t, int64_t, T*); \
  template void panelsFromColumns(const Matrix&, int64_t, int64_t, T*);                \
  template void panelFromRows(const T*, int64_t, int64_t, int64_t, T*);                \
  template void panelFromColumns(const T*, int64_t, int64_t, int64_t, T*);             \
  template void interleaveColumns(const T*, int64_t, int64_t, int64_t, T*);
MINFORM_INSTANTIATE(float)
MINFORM_INSTANTIATE(double)
#undef MINFORM_INSTANTIATE

}  // namespace MINFORM_ISA
}  // namespace minform
