// From the totals of blocks to the slots, in the order of the CPU; and the zeros that no loss visits.
#include "pass.h"

namespace minform::cuda {
namespace {

// A column of the stored totals: 1 and 2 are the extremes, all others sums.
__device__ __forceinline__ double emptyColumn(int column) {
  return column == 1 ? -HUGE_VAL : column == 2 ? HUGE_VAL : 0;
}
__device__ __forceinline__ double folded(int column, double a, double b) {
  return column == 1 ? larger(a, b) : column == 2 ? smaller(a, b) : a + b;
}

// A thread per row and column, block after block.
struct FoldRows {
  static constexpr int kThreads = 128;
  PlanView plan;
  int columns;
  Global<const double> partials;
  Global<double> rowTotals;

  __device__ void operator()() const {
    const int64_t element = elementOfThread(), row = element / columns;
    if (row >= plan.rows.count || plan.isBad()) return;
    const int column = static_cast<int>(element % columns);
    const int64_t first = plan.firstSlot(row), blocks = plan.blocks(row);
    double total = emptyColumn(column);
#pragma unroll 4
    for (int64_t k = 0; k < blocks; k++) total = folded(column, total, partials[(first + k) * columns + column]);
    rowTotals[element] = total;
  }
};

// One block, a thread per column, row after row.
struct FoldBatch {
  static constexpr int kThreads = 32;
  PlanView plan;
  int columns;
  Global<const double> rowTotals;
  Global<double> slots;

  __device__ void operator()() const {
    const int column = static_cast<int>(threadIdx.x);
    if (plan.isBad() || column >= kLossSlots) return;
    const BatchPlan batch = plan.batch[0];
    double total = emptyColumn(column);
    if (column < columns) {
#pragma unroll 8
      for (int64_t row = 0; row < plan.rows.count; row++) {
        const double factor = column == 0 ? static_cast<double>(plan.weights[row]) : 1;
        total = folded(column, total, factor * rowTotals[row * columns + column]);
      }
    }
    if (column == 0) {
      slots[kLossValue] = (batch.denominator == 0 ? 0 : total / batch.denominator) + 0.0;
      slots[kSum] = total + 0.0;
      slots[kCount] = batch.count;
      slots[kTokens] = batch.tokens;
    }
    if (column == 1) slots[kHighest] = total;
    if (column == 2) slots[kLowest] = total;
    if (column >= 3 && column - 3 < kMaxTallies) slots[kTallies + column - 3] = total;
  }
};

template <class T>
struct ClearHidden {
  static constexpr int kThreads = 256;
  Global<const uint8_t> mask;
  int64_t tokens;
  Global<T> out, other;

  __device__ void operator()() const {
    const int64_t i = elementOfThread();
    if (i >= tokens || mask[i] != 0) return;
    out[i] = T(0);
    if (other != nullptr) other[i] = T(0);
  }
};

}  // namespace

void foldRows(const PlanView& plan, int columns, const double* partials, double* rowTotals, Stream stream) {
  launch(FoldRows{plan, columns, partials, rowTotals}, threadPerElement(plan.rows.count * columns, FoldRows::kThreads),
         stream);
}

void foldBatch(const PlanView& plan, int columns, const double* rowTotals, double* slots, Stream stream) {
  launch(FoldBatch{plan, columns, rowTotals, slots}, {1, FoldBatch::kThreads}, stream);
}

template <class T>
void clearHidden(const uint8_t* mask, int64_t tokens, T* out, T* other, Stream stream) {
  if (mask == nullptr) return;
  launch(ClearHidden<T>{mask, tokens, out, other}, threadPerElement(tokens, ClearHidden<T>::kThreads), stream);
}

template void clearHidden(const uint8_t*, int64_t, float*, float*, Stream);
template void clearHidden(const uint8_t*, int64_t, double*, double*, Stream);

}  // namespace minform::cuda
