// Walking padded batches. Per-row partial results are folded in row order, so the thread count changes no bit.
#pragma once

#include "../lanes.h"
#include "minform/presets.h"

namespace minform {
namespace MINFORM_ISA {
namespace peers {

// body(row) for every row; big batches on the pool.
template <class Body>
inline void forRows(const PaddedShape& shape, const Body& body) {
  if (shape.total() < (1 << 15)) {
    for (int64_t row = 0; row < shape.rows; row++) body(row);
    return;
  }
  parallel(shape.rows, body);
}

// Sum over the rows of rowValue(row), each computed on its own.
template <class Body>
inline double sumRows(const PaddedShape& shape, const Body& rowValue) {
  Scratch<double> partial(shape.rows);
  forRows(shape, [&](int64_t row) { partial[row] = rowValue(row); });
  double sum = 0;
  for (int64_t row = 0; row < shape.rows; row++) sum += partial[row];
  return sum;
}

// Sum over the tokens of value(index), masked by multiplication or by leaving out.
template <class Body>
inline double maskedSum(const PaddedShape& shape, bool select, const Body& value) {
  return sumRows(shape, [&](int64_t row) {
    double sum = 0;
    for (int64_t i = row * shape.width; i < (row + 1) * shape.width; i++) {
      if (!select || shape.mask[i] != 0) sum += value(i) * shape.mask[i];
    }
    return sum;
  });
}

inline int64_t rowLength(const PaddedShape& shape, int64_t row) {
  int64_t length = 0;
  for (int64_t i = row * shape.width; i < (row + 1) * shape.width; i++) length += shape.mask[i];
  return length;
}

inline double tokenCount(const PaddedShape& shape) {
  return sumRows(shape, [&](int64_t row) { return static_cast<double>(rowLength(shape, row)); });
}

// exp as the peer's dtype has it: beyond float32's range it is infinite there, and 0 * infinity is NaN.
template <class T>
inline double expAs(double x) {
  const double value = ::exp(x);
  return sizeof(T) == sizeof(float) && value > 3.4028234663852886e38 ? HUGE_VAL : value;
}

inline double smallestOf(double a, double b) { return a != a || a < b ? a : b; }  // NaN stays, as in torch

}  // namespace peers
}  // namespace MINFORM_ISA
}  // namespace minform
