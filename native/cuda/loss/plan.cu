#include "plan.h"

#include <cmath>

#include "reduce.h"

namespace minform::cuda {
namespace {

__device__ __forceinline__ int64_t slotOf(const DeviceRows& rows, int64_t row) {
  return rows.begin(row) / kBlock + row;
}

// The row that a slot belongs to.
__device__ __forceinline__ int64_t rowOfSlot(const DeviceRows& rows, int64_t slot) {
  int64_t low = 0, high = rows.count - 1;
  while (low < high) {
    const int64_t middle = (low + high + 1) / 2;
    if (slotOf(rows, middle) <= slot) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// Counted tokens among the kBlock tokens that lie at each slot's place in its row. A warp per slot.
struct CountTokens {
  static constexpr int kThreads = kRowWarps * kWarp;
  DeviceRows rows;
  int64_t slots;
  Global<const uint8_t> mask;
  Global<int32_t> counts;

  __device__ void operator()() const {
    const int64_t slot = rowOfWarp();
    if (slot >= slots) return;
    const int64_t row = rowOfSlot(rows, slot);
    const int64_t begin = rows.begin(row) + (slot - slotOf(rows, row)) * kBlock;
    const int64_t end = smaller(begin + kBlock, rows.end(row));
    int32_t count = 0;
    for (int64_t i = begin + laneIndex(); i < end; i += kWarp) count += mask[i] != 0;
    count = warpReduce(count, Sum());
    if (laneIndex() == 0) counts[slot] = count;
  }
};

// Finds the length of a row and where its blocks start. A warp per row.
struct CutRow {
  static constexpr int kThreads = kRowWarps * kWarp;
  DeviceRows rows;
  Global<const int32_t> counts;  // null without a mask
  Global<BlockStart> starts;
  Global<int32_t> lengths;

  __device__ void operator()() const {
    const int64_t row = rowOfWarp();
    if (row >= rows.count) return;
    const int64_t first = slotOf(rows, row), slots = rows.end(row) / kBlock + row + 1 - first;
    int32_t length = 0;
    for (int64_t base = 0; base < slots; base += kWarp) {
      const int64_t k = base + laneIndex();
      const int64_t begin = rows.begin(row) + k * kBlock;
      const int32_t own = k < slots ? countAt(first + k, rows.end(row) - begin) : 0;
      int32_t upTo = own;
#pragma unroll
      for (int distance = 1; distance < kWarp; distance *= 2) {
        const int32_t earlier = __shfl_up_sync(kAllLanes, upTo, distance);
        if (laneIndex() >= distance) upTo += earlier;
      }
      const int32_t before = length + upTo - own;
      // The one block at most that starts here.
      const int32_t block = (before + kBlock - 1) / kBlock, skip = block * kBlock - before;
      if (skip < own) {
        starts[first + block] = BlockStart{static_cast<int32_t>(row), static_cast<int32_t>(begin), skip};
      }
      length += __shfl_sync(kAllLanes, upTo, kWarp - 1);
    }
    for (int64_t k = (length + kBlock - 1) / kBlock + laneIndex(); k < slots; k += kWarp) {
      starts[first + k] = BlockStart{static_cast<int32_t>(row), 0, 0};
    }
    if (laneIndex() == 0) lengths[row] = length;
  }

  __device__ int32_t countAt(int64_t slot, int64_t tokens) const {
    if (counts != nullptr) return counts[slot];
    return static_cast<int32_t>(clamped<int64_t>(tokens, 0, kBlock));
  }
};

struct AddToPrompts {
  static constexpr int kThreads = 128;
  int64_t rows;
  Global<const int32_t> groups, lengths;
  Global<int64_t> promptTokens;

  __device__ void operator()() const {
    const int64_t row = elementOfThread();
    if (row < rows) addCount(promptTokens, groups[row], lengths[row]);
  }
};

// Weights of the rows and counts of the batch, by one block.
struct WeighRows {
  static constexpr int kThreads = 256;
  int64_t rows;
  AggregationMode mode;
  double denominator;
  Global<const int32_t> groups, lengths;
  Global<const double> ofPrompt;           // per row, or null
  Global<const int64_t> promptTokens;      // per prompt, where ofPrompt is null
  Global<double> weights, scales, shares;  // shares: promptMean only
  Global<BatchPlan> batch;
  Global<int64_t> status;

  __device__ double promptOf(int64_t row) const {
    return ofPrompt != nullptr ? static_cast<double>(ofPrompt[row]) : static_cast<double>(promptTokens[groups[row]]);
  }

  __device__ void operator()() const {
    int64_t counts[2] = {};  // tokens, rows with any
    int64_t bad[1] = {INT64_MAX};
    for (int64_t row = threadIdx.x; row < rows; row += kThreads) {
      const int32_t tokens = lengths[row];
      const double length = tokens;
      double weight = 1, share = 0;
      counts[0] += tokens;
      counts[1] += tokens > 0;
      if (tokens > 0 && mode == AggregationMode::seqMeanTokenMean) weight = 1 / length;
      if (tokens > 0 && mode == AggregationMode::promptMean) {
        const double prompt = promptOf(row);
        if (!(prompt >= length)) bad[0] = smaller(bad[0], row);
        weight = 1 / prompt;
        share = length / prompt;
      }
      weights[row] = weight;
      if (mode == AggregationMode::promptMean) shares[row] = share;
    }
    blockReduce(counts, Sum());
    blockReduce(bad, Least());
    if (threadIdx.x == 0) finish(counts, bad[0]);
    __syncthreads();
    const BatchPlan plan = batch[0];
    for (int64_t row = threadIdx.x; row < rows; row += kThreads) {
      scales[row] = plan.denominator == 0 ? 0 : weights[row] / plan.denominator;
    }
  }

  __device__ void finish(const int64_t (&counts)[2], int64_t badRow) const {
    BatchPlan plan{static_cast<double>(counts[0]), 0, 0, kOk};
    plan.count = countOf(plan.tokens, static_cast<double>(counts[1]));
    plan.denominator = denominator != denominator ? plan.count : denominator;
    if (badRow < rows) {
      plan.bad = kBadPromptTokens - badRow;
      reportBad(status, plan.bad);
    }
    batch[0] = plan;
  }

  __device__ double countOf(double tokens, double filled) const {
    if (mode == AggregationMode::tokenMean) return tokens;
    if (mode == AggregationMode::sum) return 1;
    if (mode != AggregationMode::promptMean) return filled;
    double prompts = 0;  // in the order of the rows
#pragma unroll 8
    for (int64_t row = 0; row < rows; row++) prompts += shares[row];
    return prompts;
  }
};

}  // namespace

Plan::Plan(const Rows& rows, int64_t tokens, const uint8_t* mask, const Aggregation& aggregation, int64_t* status,
           Stream stream)
    : rows_(rows),
      mask_(mask),
      slots_(tokens / kBlock + rows.count),
      starts_(slots_, stream),
      lengths_(rows.count, stream),
      weights_(rows.count, stream),
      scales_(rows.count, stream),
      batch_(1, stream) {
  const DeviceRows view(rows);
  const Buffer<int32_t> counts(mask == nullptr ? 0 : slots_, stream);
  if (mask != nullptr) launch(CountTokens{view, slots_, mask, counts.get()}, warpPerRow(slots_), stream);
  launch(CutRow{view, counts.get(), starts_.get(), lengths_.get()}, warpPerRow(rows.count), stream);

  const bool prompts = aggregation.mode == AggregationMode::promptMean;
  const int64_t ownPrompts = prompts && aggregation.promptTokens == nullptr ? aggregation.groupCount : 0;
  const Buffer<int64_t> promptTokens(ownPrompts, stream);
  const Buffer<double> shares(prompts ? rows.count : 0, stream);
  if (ownPrompts > 0) {
    fillBytes(promptTokens.get(), 0, static_cast<size_t>(ownPrompts) * sizeof(int64_t), stream);
    launch(AddToPrompts{rows.count, aggregation.groups, lengths_.get(), promptTokens.get()},
           threadPerElement(rows.count, AddToPrompts::kThreads), stream);
  }
  launch(WeighRows{rows.count, aggregation.mode, aggregation.denominator, aggregation.groups, lengths_.get(),
                   aggregation.promptTokens, promptTokens.get(), weights_.get(), scales_.get(), shares.get(),
                   batch_.get(), status},
         {1, WeighRows::kThreads}, stream);
}

}  // namespace minform::cuda
