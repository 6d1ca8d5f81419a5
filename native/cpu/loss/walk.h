// The walk over a ragged batch that all losses share: rows on the pool, each row in blocks of counted tokens.
//
// A block hands the loss plain arrays of counted tokens only: straight from the inputs without a mask, gathered with
// one. Per-row and constant inputs are spread over the block, so a loss has one loop whatever the caller gave it.
#pragma once

#include "minform/loss.h"
#include "sums.h"

namespace minform {
namespace MINFORM_ISA {

constexpr int kBlock = 512;

// One input: a value per token, a value per row (perRow), or the same for all (data == null).
template <class T>
struct Stream {
  const T* data;
  bool perRow;
  T constant;
};

template <class T>
inline Stream<T> perToken(const T* data) {
  return {data, false, T(0)};
}
template <class T>
inline Stream<T> perTokenOr(const T* data, T otherwise) {
  return {data, false, otherwise};
}

template <class T, int Inputs, int Outputs>
struct Block {
  const T* in[Inputs];
  T* out[Outputs];
  int count;
};

template <class T, int Inputs, int Outputs>
struct Streams {
  Rows rows;
  const uint8_t* mask;
  Stream<T> in[Inputs];
  T* out[Outputs];

  // body(block) -> position of a bad token in the block, or -1. Returns the flat index of the first bad token, or kOk.
  template <bool Writes, class Body>
  int64_t eachBlock(int64_t row, const Body& body) const {
    const int64_t end = rows.end(row);
    alignas(64) T inputs[Inputs][kBlock];
    alignas(64) T outputs[Outputs][kBlock];
    int32_t positions[kBlock];
    Block<T, Inputs, Outputs> block;
    const int widest = static_cast<int>(smaller<int64_t>(rows.length(row), kBlock));
    for (int s = 0; s < Inputs; s++) {
      block.in[s] = inputs[s];
      if (in[s].data != nullptr && !in[s].perRow) continue;
      const T value = in[s].data == nullptr ? in[s].constant : in[s].data[row];
      for (int i = 0; i < widest; i++) inputs[s][i] = value;
    }
    for (int s = 0; s < Outputs; s++) block.out[s] = outputs[s];
    for (int64_t at = rows.begin(row); at < end;) {
      const int64_t next = mask == nullptr ? point(block, at, end) : gather(block, at, end, inputs, positions);
      const int bad = block.count == 0 ? -1 : body(block);
      if (bad >= 0) return at + (mask == nullptr ? bad : positions[bad]);
      if (Writes && mask != nullptr) scatter(block.count, at, next, outputs, positions);
      at = next;
    }
    return kOk;
  }

 private:
  int64_t point(Block<T, Inputs, Outputs>& block, int64_t at, int64_t end) const {
    const int64_t next = smaller<int64_t>(at + kBlock, end);
    for (int s = 0; s < Inputs; s++) {
      if (in[s].data != nullptr && !in[s].perRow) block.in[s] = in[s].data + at;
    }
    for (int s = 0; s < Outputs; s++) block.out[s] = out[s] + at;
    block.count = static_cast<int>(next - at);
    return next;
  }

  int64_t gather(Block<T, Inputs, Outputs>& block, int64_t at, int64_t end, T (*inputs)[kBlock],
                 int32_t* positions) const {
    int count = 0;
    int64_t next = at;
    for (; next < end && count < kBlock; next++) {
      positions[count] = static_cast<int32_t>(next - at);
      count += mask[next] != 0;
    }
    for (int s = 0; s < Inputs; s++) {
      if (in[s].data == nullptr || in[s].perRow) continue;
      for (int i = 0; i < count; i++) inputs[s][i] = in[s].data[at + positions[i]];
    }
    block.count = count;
    return next;
  }

  void scatter(int count, int64_t at, int64_t next, T (*outputs)[kBlock], const int32_t* positions) const {
    for (int s = 0; s < Outputs; s++) {
      for (int64_t i = at; i < next; i++) out[s][i] = T(0);
      for (int i = 0; i < count; i++) out[s][at + positions[i]] = outputs[s][i];
    }
  }
};

// What the tokens of a row add up to.
struct Tally {
  double loss;
  double sums[kMaxTallies];
  double highest, lowest;

  // Widens highest and lowest by x[0 .. count), count > 0.
  template <class T>
  void range(const T* x, int count) {
    T high[kLanes], low[kLanes];
    for (int lane = 0; lane < kLanes; lane++) high[lane] = low[lane] = x[0];
    int i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      for (int lane = 0; lane < kLanes; lane++) {
        high[lane] = larger(high[lane], x[i + lane]);
        low[lane] = smaller(low[lane], x[i + lane]);
      }
    }
    for (; i < count; i++) {
      high[0] = larger(high[0], x[i]);
      low[0] = smaller(low[0], x[i]);
    }
    for (int lane = 0; lane < kLanes; lane++) {
      highest = larger(highest, static_cast<double>(high[lane]));
      lowest = smaller(lowest, static_cast<double>(low[lane]));
    }
  }
};

inline Tally emptyTally() {
  Tally tally{};
  tally.highest = -HUGE_VAL;
  tally.lowest = HUGE_VAL;
  return tally;
}

// Counted tokens per row, and the weight of each row in the sum.
class RowPlan {
 public:
  RowPlan(const Rows& rows, const uint8_t* mask, const Aggregation& aggregation);
  int64_t status = kOk;
  double tokens = 0, count = 0;
  int64_t length(int64_t row) { return lengths_[row]; }
  double weight(int64_t row) { return weights_[row]; }
  // What a row's gradient is multiplied by; 0 where nothing counts.
  double scale(int64_t row) { return denominator_ == 0 ? 0 : weights_[row] / denominator_; }
  double denominator() const { return denominator_; }

 private:
  Scratch<int64_t> lengths_;
  Scratch<double> weights_;
  double denominator_;
};

// kernel.row(streams, row, length) -> state of the row; kernel.block(block, state, scale, tally) -> bad position or -1.
template <class T, int Inputs, int Outputs, class Kernel>
int64_t walk(const Streams<T, Inputs, Outputs>& streams, const Kernel& kernel, const Aggregation& aggregation,
             double* slots) {
  const Rows& rows = streams.rows;
  RowPlan plan(rows, streams.mask, aggregation);
  if (plan.status != kOk) return plan.status;
  Scratch<Tally> tallies(rows.count);
  Scratch<int64_t> statuses(rows.count);
  parallelRows(rows, 8192, [&](int64_t row) {
    Tally tally = emptyTally();
    const auto state = kernel.row(streams, row, plan.length(row), tally);
    const T scale = static_cast<T>(plan.scale(row));
    statuses[row] = streams.template eachBlock<true>(
        row, [&](const Block<T, Inputs, Outputs>& block) { return kernel.block(block, state, scale, tally); });
    tallies[row] = tally;
  });
  Tally all = emptyTally();
  for (int64_t row = 0; row < rows.count; row++) {
    if (statuses[row] != kOk) return statuses[row];
    if (plan.length(row) == 0) continue;
    all.loss += plan.weight(row) * tallies[row].loss;
    for (int i = 0; i < kMaxTallies; i++) all.sums[i] += tallies[row].sums[i];
    all.highest = larger(all.highest, tallies[row].highest);
    all.lowest = smaller(all.lowest, tallies[row].lowest);
  }
  slots[kLossValue] = (plan.denominator() == 0 ? 0 : all.loss / plan.denominator()) + 0.0;
  slots[kSum] = all.loss + 0.0;
  slots[kCount] = plan.count;
  slots[kTokens] = plan.tokens;
  slots[kHighest] = all.highest;
  slots[kLowest] = all.lowest;
  for (int i = 0; i < kMaxTallies; i++) slots[kTallies + i] = all.sums[i];
  return kOk;
}

// For kernels whose rows need no pass of their own.
struct NoState {};

}  // namespace MINFORM_ISA
}  // namespace minform
