// The pass over a batch that all losses share. Half a warp takes a block of kBlock counted tokens: lane l its tokens l,
// l + 16, ..., the lanes over which the CPU kernels sum. Lanes, blocks and rows are then folded in the CPU's order.
//
// A loss is a struct with
//   Sums                                      the Totals it adds to
//   start(plan, row, first, totals) -> state  what the row's tokens share; `first`: this lane speaks for the row
//   token(i, state, row, scale, totals)       the token at flat index i
#pragma once

#include <cmath>

#include "arithmetic/exponential.h"
#include "elements.h"
#include "plan.h"
#include "reduce.h"

namespace minform::cuda {

constexpr int kHalfWarp = 16;

// What the tokens of a lane or block add up to: kSums sums, and after them kCounts counts. As stored: the loss, the
// highest and the lowest value, sums, counts.
template <class T, int kSums, int kCounts>
struct Totals {
  static constexpr int kColumns = 3 + kSums + kCounts;
  double loss = 0;
  T highest = static_cast<T>(-HUGE_VAL), lowest = static_cast<T>(HUGE_VAL);
  double sums[kSums == 0 ? 1 : kSums] = {};
  uint32_t counts = 0;  // fields of ten bits: a block has fewer than 1024 tokens

  __device__ __forceinline__ void count(int which, bool happened) {
    counts += static_cast<uint32_t>(happened) << (10 * which);
  }
  __device__ __forceinline__ void range(T x) {
    highest = larger(highest, x);
    lowest = smaller(lowest, x);
  }
  // Over the 16 lanes of a half warp, by the tree of foldLanes.
  __device__ __forceinline__ void fold() {
#pragma unroll
    for (int distance = kHalfWarp / 2; distance > 0; distance /= 2) {
      loss += __shfl_xor_sync(kAllLanes, loss, distance);
      highest = larger(highest, __shfl_xor_sync(kAllLanes, highest, distance));
      lowest = smaller(lowest, __shfl_xor_sync(kAllLanes, lowest, distance));
      counts += __shfl_xor_sync(kAllLanes, counts, distance);
#pragma unroll
      for (int i = 0; i < kSums; i++) sums[i] += __shfl_xor_sync(kAllLanes, sums[i], distance);
    }
  }
  __device__ __forceinline__ void store(const Global<double>& to) const {
    to[0] = loss;
    to[1] = highest;
    to[2] = lowest;
#pragma unroll
    for (int i = 0; i < kSums; i++) to[3 + i] = sums[i];
#pragma unroll
    for (int i = 0; i < kCounts; i++) to[3 + kSums + i] = counts >> (10 * i) & 1023;
  }
};

// The position of the n-th set bit (from 0) of 16 bits, or 16.
__device__ __forceinline__ int nthSetBit(uint32_t bits, int n) {
  int at = 0;
#pragma unroll
  for (int width = 8; width > 0; width /= 2) {
    const int low = __popc(bits >> at & ((1u << width) - 1));
    if (n >= low) {
      n -= low;
      at += width;
    }
  }
  return at + (n >= static_cast<int>(bits >> at & 1));
}

// The counted tokens of a block, handed to its 16 lanes in turn. All lanes of the warp call next() while any() is true.
class BlockTokens {
 public:
  __device__ __forceinline__ BlockTokens(const Global<const uint8_t>& mask, const BlockStart& start, int32_t end,
                                         int32_t count)
      : mask_(mask), at_(start.start), end_(end), skip_(start.skip), left_(count) {}

  __device__ __forceinline__ bool any() const { return __any_sync(kAllLanes, left_ > 0) != 0; }

  // The lane's next token, or -1 where it has none this time.
  __device__ __forceinline__ int32_t next() {
    return mask_ == nullptr ? take(laneIndex() % kHalfWarp + at_, kHalfWarp) : gather();
  }

 private:
  __device__ __forceinline__ int32_t take(int32_t token, int step) {
    const int wanted = smaller(kHalfWarp, left_);
    at_ += step;
    left_ -= wanted;
    return laneIndex() % kHalfWarp < wanted ? token : -1;
  }

  // Looks at 16 more places. Counted tokens are held back until there are 16, or no more to come.
  __device__ __forceinline__ int32_t gather() {
    const int lane = laneIndex() % kHalfWarp;
    const bool more = left_ > held_;
    const uint32_t votes = __ballot_sync(kAllLanes, more && at_ + lane < end_ && mask_[at_ + lane] != 0);
    uint32_t bits = votes >> (laneIndex() & kHalfWarp) & 0xFFFF;
    const int skipped = smaller(skip_, __popc(bits)), from = nthSetBit(bits, skipped);
    skip_ -= skipped;
    bits = bits >> from << from;
    const int held = held_, have = held + __popc(bits), wanted = smaller(kHalfWarp, left_);
    const int32_t at = at_, token = lane < held ? mine_ : at + nthSetBit(bits, lane - held);
    const int step = more ? kHalfWarp : 0;
    if (have < wanted) {
      mine_ = token;
      held_ = have;
      at_ += step;
      return -1;
    }
    mine_ = at + nthSetBit(bits, lane + wanted - held);
    held_ = have - wanted;
    return take(token, step);
  }

  Global<const uint8_t> mask_;
  int32_t at_, end_;
  int skip_, left_, held_ = 0;
  int32_t mine_ = 0;
};

template <class T, class Loss>
struct LossPass {
  static constexpr int kThreads = 128;
  static constexpr int kResident = 1;                   // about 64 registers in float32, and no spills
  static constexpr int kBlocks = kThreads / kHalfWarp;  // per thread block
  using Sums = typename Loss::Sums;
  PlanView plan;
  Loss loss;
  Global<double> partials;  // [slot][Sums::kColumns]

  static Shape shape(const PlanView& plan) { return {ceilDivide(plan.slots, kBlocks), kThreads}; }

  __device__ void operator()() const {
    if (plan.isBad()) return;
    const int64_t slot = int64_t{blockIdx.x} * kBlocks + threadIdx.x / kHalfWarp;
    const bool inside = slot < plan.slots;
    BlockStart start{};
    if (inside) start = plan.starts[slot];
    const int32_t row = start.row, block = inside ? static_cast<int32_t>(slot - plan.firstSlot(row)) : 0;
    const int32_t count = inside ? clamped(plan.lengths[row] - block * kBlock, 0, kBlock) : 0;
    const int32_t end = inside ? static_cast<int32_t>(plan.rows.end(row)) : 0;

    Sums totals;
    typename Loss::State state{};
    T scale = 0;
    if (count > 0) {
      scale = static_cast<T>(plan.scales[row]);
      state = loss.start(plan, row, block == 0 && laneIndex() % kHalfWarp == 0, totals);
    }
    for (BlockTokens tokens(plan.mask, start, end, count); tokens.any();) {
      const int32_t i = tokens.next();
      if (i >= 0) loss.token(i, state, row, scale, totals);
    }
    totals.fold();
    if (count > 0 && laneIndex() % kHalfWarp == 0) totals.store(partials + slot * Sums::kColumns);
  }
};

// fold.cu. Totals of each row from those of its blocks, [slot][columns] to [row][columns]; and from them the slots.
void foldRows(const PlanView& plan, int columns, const double* partials, double* rowTotals, Stream stream);
void foldBatch(const PlanView& plan, int columns, const double* rowTotals, double* slots, Stream stream);

template <class T, class Loss>
void runPass(const PlanView& plan, const Loss& loss, double* rowTotals, Stream stream) {
  using Pass = LossPass<T, Loss>;
  const Buffer<double> partials(plan.slots * Pass::Sums::kColumns, stream);
  launch(Pass{plan, loss, partials.get()}, Pass::shape(plan), stream);
  foldRows(plan, Pass::Sums::kColumns, partials.get(), rowTotals, stream);
}

// Runs the loss and writes its slots.
template <class T, class Loss>
void runLoss(const Plan& plan, const Loss& loss, double* slots, Stream stream) {
  constexpr int kColumns = LossPass<T, Loss>::Sums::kColumns;
  const Buffer<double> rowTotals(plan.view().rows.count * kColumns, stream);
  runPass<T>(plan.view(), loss, rowTotals.get(), stream);
  foldBatch(plan.view(), kColumns, rowTotals.get(), slots, stream);
}

// Gradients and values of masked-out tokens: +0. `other` may be null.
template <class T>
void clearHidden(const uint8_t* mask, int64_t tokens, T* out, T* other, Stream stream);

}  // namespace minform::cuda
