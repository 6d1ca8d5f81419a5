// The inner kernel keeps kTileRows rows x 2 vectors of the result in registers and reads the left operand element by
// element. Fewer rows sum in the same order: a row's bits do not depend on its neighbours.
#include "gemm/gemm.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

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

// Rows of the left operand as a tile reads them: one after the other, or interleaved element by element.
template <class T, bool Interleaved>
struct LeftRows {
  const T *first, *fourth;
  int64_t stride;

  LeftRows(const T* left, int64_t rowStride) : first(left), fourth(left + 3 * rowStride), stride(rowStride) {}
  T at(int row, int64_t k) const {
    if (Interleaved) return first[k * kTileRows + row];
    return row < 3 ? first[row * stride + k] : fourth[(row - 3) * stride + k];
  }
};

template <class T, int Rows, bool Interleaved>
void multiplyTile(const Block<T>& block, int64_t row, int64_t column) {
  typedef typename VectorOf<T>::type Vector;
  constexpr int64_t kHalf = kPanel<T> / 2;
  const LeftRows<T, Interleaved> left(block.left + row * (Interleaved ? block.depth : block.leftStride),
                                      block.leftStride);
  const T* panel = block.panels + column * block.depth;
  Vector low[Rows] = {}, high[Rows] = {};
  for (int64_t k = 0; k < block.depth; k++) {
    const Vector rightLow = loadLanes(panel + k * kPanel<T>), rightHigh = loadLanes(panel + k * kPanel<T> + kHalf);
#pragma GCC unroll 6
    for (int r = 0; r < Rows; r++) {
      const Vector spread = allLanes(left.at(r, k));
      low[r] = multiplyAdd(spread, rightLow, low[r]);
      high[r] = multiplyAdd(spread, rightHigh, high[r]);
    }
  }
  const int64_t columns = smaller(kPanel<T>, block.columns - column);
#pragma GCC unroll 6
  for (int r = 0; r < Rows; r++) {
    T* to = block.out + (row + r) * block.outStride + column;
    const T* start = block.start == nullptr ? nullptr : block.start + (row + r) * block.startStride + column;
    if (columns == kPanel<T>) {
      storeLanes(to, start == nullptr ? low[r] : loadLanes(start) + low[r]);
      storeLanes(to + kHalf, start == nullptr ? high[r] : loadLanes(start + kHalf) + high[r]);
    } else {
      T sums[kPanel<T>];
      storeLanes(sums, low[r]);
      storeLanes(sums + kHalf, high[r]);
      for (int64_t j = 0; j < columns; j++) to[j] = start == nullptr ? sums[j] : start[j] + sums[j];
    }
  }
}

template <class T, bool Interleaved>
void multiplyRows(const Block<T>& block, int64_t column) {
  int64_t row = 0;
  for (; row + kTileRows <= block.rows; row += kTileRows) multiplyTile<T, kTileRows, Interleaved>(block, row, column);
  switch (block.rows - row) {
    case 5:
      return multiplyTile<T, 5, Interleaved>(block, row, column);
    case 4:
      return multiplyTile<T, 4, Interleaved>(block, row, column);
    case 3:
      return multiplyTile<T, 3, Interleaved>(block, row, column);
    case 2:
      return multiplyTile<T, 2, Interleaved>(block, row, column);
    case 1:
      return multiplyTile<T, 1, Interleaved>(block, row, column);
  }
}

}  // namespace

template <class T>
void multiplyBlock(const Block<T>& block) {
  for (int64_t column = 0; column < block.columns; column += kPanel<T>) {
    if (block.leftStride == 0) {
      multiplyRows<T, true>(block, column);
    } else {
      multiplyRows<T, false>(block, column);
    }
  }
}

template void multiplyBlock(const Block<float>&);
template void multiplyBlock(const Block<double>&);

}  // namespace MINFORM_ISA
}  // namespace minform
