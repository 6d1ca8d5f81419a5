// The inner kernel keeps 6 rows x 2 vectors of the result in registers and reads the left operand element by element.
#include "gemm/gemm.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

constexpr int kTileRows = 6;

inline FloatVector multiplyAdd(FloatVector a, FloatVector b, FloatVector c) {
#if defined(MINFORM_ISA_avx512)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(MINFORM_ISA_avx2)
  return _mm256_fmadd_ps(a, b, c);
#else
  return a * b + c;
#endif
}

inline DoubleVector multiplyAdd(DoubleVector a, DoubleVector b, DoubleVector c) {
#if defined(MINFORM_ISA_avx512)
  return _mm512_fmadd_pd(a, b, c);
#elif defined(MINFORM_ISA_avx2)
  return _mm256_fmadd_pd(a, b, c);
#else
  return a * b + c;
#endif
}

template <class T, int Rows>
void multiplyTile(const T* left, const T* panel, int64_t depth, T* out, int64_t outStride, int64_t columns,
                  bool accumulate) {
  typedef typename VectorOf<T>::type Vector;
  constexpr int64_t kHalf = kPanel<T> / 2;
  Vector low[Rows] = {}, high[Rows] = {};
  for (int64_t k = 0; k < depth; k++) {
    const Vector rightLow = loadLanes(panel + k * kPanel<T>), rightHigh = loadLanes(panel + k * kPanel<T> + kHalf);
#pragma GCC unroll 6
    for (int r = 0; r < Rows; r++) {
      const Vector spread = allLanes(left[r * kLeftStride + k]);
      low[r] = multiplyAdd(spread, rightLow, low[r]);
      high[r] = multiplyAdd(spread, rightHigh, high[r]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < Rows; r++) {
    T* to = out + r * outStride;
    if (columns == kPanel<T>) {
      storeLanes(to, accumulate ? loadLanes(to) + low[r] : low[r]);
      storeLanes(to + kHalf, accumulate ? loadLanes(to + kHalf) + high[r] : high[r]);
    } else {
      T row[kPanel<T>];
      storeLanes(row, low[r]);
      storeLanes(row + kHalf, high[r]);
      for (int64_t j = 0; j < columns; j++) to[j] = accumulate ? to[j] + row[j] : row[j];
    }
  }
}

}  // namespace

template <class T>
void multiplyBlock(const T* left, int64_t rows, const T* panels, int64_t columns, int64_t depth, T* out,
                   int64_t outStride, bool accumulate) {
  for (int64_t j = 0; j < columns; j += kPanel<T>) {
    const T* panel = panels + j * depth;
    const int64_t width = smaller(kPanel<T>, columns - j);
    int64_t i = 0;
    for (; i + kTileRows <= rows; i += kTileRows) {
      multiplyTile<T, kTileRows>(left + i * kLeftStride, panel, depth, out + i * outStride + j, outStride, width,
                                 accumulate);
    }
    for (; i < rows; i++) {
      multiplyTile<T, 1>(left + i * kLeftStride, panel, depth, out + i * outStride + j, outStride, width, accumulate);
    }
  }
}

template void multiplyBlock(const float*, int64_t, const float*, int64_t, int64_t, float*, int64_t, bool);
template void multiplyBlock(const double*, int64_t, const double*, int64_t, int64_t, double*, int64_t, bool);

}  // namespace MINFORM_ISA
}  // namespace minform
