// How a ragged batch is cut for the losses: each row into blocks of kBlock counted tokens, the same as on the CPU, and
// each row's weight in the sum.
//
// Block k of a row has the slot offset / kBlock + row + k. Slots of different rows never meet, tokens / kBlock + rows
// are enough for all, and a row has one for every kBlock of its tokens: some stay unused where tokens are masked out.
#pragma once

#include "launch.h"
#include "minform/cuda/loss.h"
#include "rows.h"

namespace minform::cuda {

constexpr int kBlock = 512;

// Where a block starts: after `skip` counted tokens from token `start` on.
struct BlockStart {
  int32_t row, start, skip;
};

// What is known of the whole batch.
struct BatchPlan {
  double tokens, count, denominator;
  int64_t bad;  // kOk, or the status of the first row with too many tokens
};

// The plan as kernels see it.
struct PlanView {
  DeviceRows rows;
  int64_t slots;
  Global<const uint8_t> mask;
  Global<const BlockStart> starts;  // per slot
  Global<const int32_t> lengths;    // per row: counted tokens
  Global<const double> weights;     // per row: of its sum in the batch's
  Global<const double> scales;      // per row: weight / denominator, of its gradient; 0 where nothing counts
  Global<const BatchPlan> batch;

  __device__ __forceinline__ int64_t firstSlot(int64_t row) const { return rows.begin(row) / kBlock + row; }
  __device__ __forceinline__ int64_t blocks(int64_t row) const { return (lengths[row] + kBlock - 1) / kBlock; }
  __device__ __forceinline__ bool isBad() const { return batch[0].bad != kOk; }
};

// Makes the plan on the stream, and reports a row with more tokens than its prompt.
class Plan {
 public:
  Plan(const Rows& rows, int64_t tokens, const uint8_t* mask, const Aggregation& aggregation, int64_t* status,
       Stream stream);
  PlanView view() const {
    return {DeviceRows(rows_), slots_,         mask_,         starts_.get(),
            lengths_.get(),    weights_.get(), scales_.get(), batch_.get()};
  }

 private:
  Rows rows_;
  const uint8_t* mask_;
  int64_t slots_;
  Buffer<BlockStart> starts_;
  Buffer<int32_t> lengths_;
  Buffer<double> weights_, scales_;
  Buffer<BatchPlan> batch_;
};

}  // namespace minform::cuda
