// The tokens of a row from the last to the first by one warp, 32 at a time. Returns and charges change at few tokens
// only, the events: those with a reward and the ends of steps. They are added up one after the other, in the order of
// the CPU kernel, so that rows with the same rewards have the same return whatever lies between them.
#pragma once

#include "minform/advantage.h"
#include "reduce.h"
#include "rows.h"

namespace minform::cuda {

enum class StepKind : int32_t { none, ends, everyToken };

struct StepPlace {
  int64_t end;    // flat index of its last token, one before the row when there is no step left
  int64_t index;  // which step of the batch it is
};

// No spans are asked for.
struct NoSpans {
  __device__ __forceinline__ void close(int64_t, double) const {}
};

template <class T>
struct RowWalk {
  DeviceRows tokens, steps;
  Global<const int32_t> stepEnds;
  Global<const uint8_t> mask;
  Global<const T> rewards;  // per token, or per step
  bool rewardPerStep;
  Global<const T> kl;  // or null; of rewards per token
  double klCoefficient;
  StepKind kind;
  Baseline baseline;
  bool countSeparators;

  __device__ bool chargesOnce() const { return baseline == Baseline::outcome || baseline == Baseline::returns; }

  // The counted step before this one. A step whose last token is masked out is part of the step after it.
  __device__ StepPlace before(int64_t row, int64_t index) const {
    const int64_t begin = tokens.begin(row), first = steps.begin(row);
    for (int64_t i = index - 1; i >= first; i--) {
      const int64_t end = begin + stepEnds[i];
      if (trained(mask, end)) return {end, i};
    }
    return {begin - 1, -1};
  }

  // Counted tokens in [first, last], by the whole warp.
  __device__ int64_t countTokens(int64_t first, int64_t last) const {
    if (mask == nullptr) return last - first + 1;
    int64_t counted = 0;
    for (int64_t i = first + laneIndex(); i <= last; i += kWarp) counted += mask[i] != 0;
    return warpReduce(counted, Sum());
  }

  // What the step that ends at `end` is charged.
  __device__ double charge(int64_t counted) const {
    if (chargesOnce()) return 0;
    return baseline == Baseline::token ? static_cast<double>(counted - (countSeparators ? 0 : 1)) : 1;
  }

  // What a lane's token brings.
  struct Token {
    double reward = 0, charge = 0;
    bool event = false;
  };

  // visit(i, counts, return, charged) for the lane's token i of the row, all lanes together (i is before the row for
  // lanes beyond it). Spans of tokens over which the return does not change are closed by
  // spans.close(counted tokens, return). Gives the lowest index of a reward that is NaN or infinite, or INT64_MAX.
  template <class Visit, class Spans>
  __device__ int64_t operator()(int64_t row, const Visit& visit, Spans& spans) const {
    const int64_t begin = tokens.begin(row), end = tokens.end(row);
    double tail = 0, charged = chargesOnce() ? 1 : 0;
    int64_t bad = INT64_MAX, open = 0;  // counted tokens of the span under way
    StepPlace step{begin - 1, -1};
    if (kind == StepKind::ends) step = before(row, steps.end(row));
    for (int64_t top = end; top > begin; top -= kWarp) {
      const int64_t i = top - 1 - laneIndex();
      const bool counts = i >= begin && trained(mask, i);
      Token token;
      if (!rewardPerStep && counts) token = ofToken(i, bad);
      while (kind == StepKind::ends && step.end >= begin && step.end >= top - kWarp) {
        const StepPlace below = before(row, step.index);
        const int64_t counted = baseline == Baseline::token ? countTokens(below.end + 1, step.end) : 0;
        if (i == step.end) {
          token.event = true;
          token.charge = charge(counted);
          if (rewardPerStep) token.reward = checked(step.index, bad);
        }
        step = below;
      }
      const uint32_t votes = __ballot_sync(kAllLanes, counts), events = __ballot_sync(kAllLanes, token.event);
      double ownTail = tail, ownCharged = charged;
      uint32_t seen = 0;  // lanes before the event
      for (uint32_t rest = events; rest != 0; rest &= rest - 1) {
        const int lane = __ffs(static_cast<int>(rest)) - 1;
        const uint32_t earlier = (1u << lane) - 1;
        spans.close(open + __popc(votes & earlier & ~seen), finite(tail));
        open = 0;
        seen = earlier;
        tail += __shfl_sync(kAllLanes, token.reward, lane);
        charged += __shfl_sync(kAllLanes, token.charge, lane);
        if (laneIndex() >= lane) {
          ownTail = tail;
          ownCharged = charged;
        }
      }
      open += __popc(votes & ~seen);
      visit(i, counts, finite(ownTail), ownCharged);
    }
    spans.close(open, finite(tail));
    return warpReduce(bad, Least());
  }

 private:
  __device__ double checked(int64_t index, int64_t& bad) const {
    const double reward = rewards[index];
    if (!isFinite(reward)) bad = smaller(bad, index);
    return reward;
  }

  __device__ Token ofToken(int64_t i, int64_t& bad) const {
    Token token;
    token.reward = checked(i, bad);
    token.event = kl != nullptr || !(token.reward == 0) || kind == StepKind::everyToken;
    if (kl != nullptr) token.reward -= klCoefficient * kl[i];
    if (kind == StepKind::everyToken) token.charge = charge(1);
    return token;
  }
};

}  // namespace minform::cuda
