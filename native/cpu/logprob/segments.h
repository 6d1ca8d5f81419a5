// How a matrix of logits is cut into pieces of work: fixed segments of a row, so that few rows still use all threads,
// or several short rows at once.
#pragma once

#include "lanes.h"

namespace minform {
namespace MINFORM_ISA {

constexpr int64_t kSegment = 32768;

// Runs unit(row, segment, begin, end, slot) over the segments of all rows on the pool, then fold(row, slots, segments)
// for every row in order; `slot` is where the segment's result of type Result goes. False when cancelled.
template <class Result, class Unit, class Fold>
bool forEachSegment(int64_t rows, int64_t columns, const CancelFlag& cancelled, const Unit& unit, const Fold& fold) {
  const int64_t segments = (columns + kSegment - 1) / kSegment;
  const int64_t rowsAtOnce = smaller(rows, larger<int64_t>(1, 16384 / segments));
  const int64_t rowsPerUnit = segments > 1 ? 1 : larger<int64_t>(1, kSegment / columns);
  Scratch<Result> slots(rowsAtOnce * segments);
  for (int64_t first = 0; first < rows; first += rowsAtOnce) {
    const int64_t count = smaller(rowsAtOnce, rows - first);
    const int64_t units = (count + rowsPerUnit - 1) / rowsPerUnit * segments;
    parallel(units, [&](int64_t index) {
      if (cancelled.load(std::memory_order_relaxed)) return;
      const int64_t segment = index % segments, begin = segment * kSegment;
      const int64_t start = index / segments * rowsPerUnit, stop = smaller(count, start + rowsPerUnit);
      for (int64_t i = start; i < stop; i++) {
        unit(first + i, begin, smaller(columns, begin + kSegment), slots[i * segments + segment]);
      }
    });
    if (cancelled.load(std::memory_order_relaxed)) return false;
    for (int64_t i = 0; i < count; i++) fold(first + i, &slots[i * segments], segments);
  }
  return true;
}

}  // namespace MINFORM_ISA
}  // namespace minform
