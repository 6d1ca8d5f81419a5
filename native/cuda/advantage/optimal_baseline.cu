// Optimal token baseline: B_t = sum_j W_jt G_jt / sum_j W_jt over the responses of a group that have a t-th counted
// token, W = cumsum(1 - 2 pi + sum pi^2), the squared norm of the score of the logits so far.
//
// A warp per row lists its counted tokens with return and weight; a block per group then takes one position of the
// responses per thread.
#include "groups.h"
#include "scan.h"

namespace minform::cuda {
namespace {

// Per row: how many counted tokens take part, and the return of the first.
struct RowSummary {
  double outcome;
  int32_t counted, excluded;
};

// The counted tokens of all rows, those of a row from its offset on.
struct Listed {
  Global<double> returns, weights;
  Global<int32_t> tokens;
};

template <class T>
struct ListRow {
  static constexpr int kThreads = kRowWarps * kWarp;
  static constexpr int kResident = 1;
  DeviceRows tokens;
  Global<const T> rewards, logProbs, sumSquaredProbs;
  Global<const uint8_t> mask;
  double gamma;
  bool excludeNaN;
  Listed listed;
  Global<RowSummary> summaries;
  Global<T> advantages, returns;
  Global<int64_t> status;

  // The first bad element of the row, or INT64_MAX. A log-prob may be -Infinity: its probability is 0.
  __device__ int64_t firstBad(int64_t begin, int64_t end) const {
    for (int64_t i = begin + laneIndex(); i < end; i += kWarp) {
      if (trained(mask, i) && !(isFinite(rewards[i]) && isFinite(sumSquaredProbs[i]) && logProbs[i] <= 1)) return i;
    }
    return INT64_MAX;
  }

  // Weights from the first token on; gives how many tokens count.
  __device__ int32_t listWeights(int64_t begin, int64_t end) const {
    int32_t place = 0;
    double weight = 0;
    for (int64_t base = begin; base < end; base += kWarp) {
      const int64_t i = base + laneIndex();
      const bool counts = i < end && trained(mask, i);
      double own = 0;
      if (counts) {
        const double p = exp(static_cast<double>(logProbs[i]));
        own = larger(0.0, 1 - 2 * p + sumSquaredProbs[i]);
      }
      const double upTo = advance(Affine{1, own}, weight);
      const uint32_t votes = __ballot_sync(kAllLanes, counts);
      if (counts) {
        const int64_t at = begin + place + __popc(votes & ((1u << laneIndex()) - 1));
        listed.weights[at] = upTo;
        listed.tokens[at] = static_cast<int32_t>(i);
      }
      place += __popc(votes);
    }
    return place;
  }

  // Returns from the last counted token on; gives that of the first.
  __device__ double listReturns(int64_t begin, int64_t counted) const {
    double tail = 0;
    for (int64_t top = begin + counted; top > begin; top -= kWarp) {
      const int64_t at = top - 1 - laneIndex();
      Affine map{1, 0};
      if (at >= begin) map = {gamma, static_cast<double>(rewards[listed.tokens[at]])};
      const double value = advance(map, tail);
      if (at >= begin) listed.returns[at] = value;
    }
    return tail;
  }

  __device__ void operator()() const {
    const int64_t row = rowOfWarp();
    if (row >= tokens.count) return;
    const int64_t begin = tokens.begin(row), end = tokens.end(row);
    const int64_t bad = warpReduce(firstBad(begin, end), Least());
    const bool unusable = bad != INT64_MAX;
    RowSummary summary{0, 0, 0};
    if (unusable) {
      summary.excluded = excludeNaN && isNaN(rewards[bad]);
      if (summary.excluded == 0 && laneIndex() == 0) reportBad(status, bad);
    } else {
      summary.counted = listWeights(begin, end);
      __syncwarp();
      summary.outcome = listReturns(begin, summary.counted);
    }
    // All others are written by their group.
    for (int64_t i = begin + laneIndex(); i < end; i += kWarp) {
      if (unusable || !trained(mask, i)) advantages[i] = returns[i] = T(0);
    }
    if (laneIndex() == 0) summaries[row] = summary;
  }
};

// Mean returns at one position, weighted and plain. Updated so that equal returns give exactly that return.
struct Position {
  double weighted = 0, weight = 0, plain = 0, count = 0;

  __device__ __forceinline__ void add(double value, double w) {
    count += 1;
    plain += finite(value - plain) * (1 / count);
    if (w == 0) return;
    weight += w;
    weighted += finite(value - weighted) * (w / weight);
  }
  // Without any weight no logit can move, and the plain mean stands in.
  __device__ __forceinline__ double baseline() const { return weight > 0 ? weighted : plain; }
};

template <class T>
struct BaselineOfGroup {
  static constexpr int kThreads = 128;
  static constexpr int kResident = 1;
  DeviceRows tokens;
  GroupView groups;
  Global<const double> rowReturns, rowWeights;
  Global<const int32_t> rowTokens;
  Global<const RowSummary> summaries;
  Global<T> advantages, returns;
  StatCounters stats;

  __device__ void operator()() const {
    const int64_t group = blockIdx.x, start = groups.starts[group], end = start + groups.sizes[group];
    int64_t taking = 0, first = -1, excluded = 0;
    int32_t longest = 0;
    double lowest = HUGE_VAL, highest = -HUGE_VAL;
    for (int64_t place = start; place < end; place++) {
      const RowSummary summary = summaries[groups.members[place]];
      excluded += summary.excluded;
      if (summary.counted == 0) continue;
      if (taking++ == 0) first = groups.members[place];
      longest = larger(longest, summary.counted);
      lowest = smaller(lowest, summary.outcome);
      highest = larger(highest, summary.outcome);
    }
    if (threadIdx.x == 0) {
      stats.exclude(excluded);
      if (taking == 1) stats.singleton(first);
      if (taking > 1 && lowest == highest) stats.zeroVariance();
    }
    const bool alone = taking == 1, zero = alone && !groups.rawSingletons;
    for (int64_t at = threadIdx.x; at < longest; at += kThreads) writePosition(start, end, at, alone, zero);
  }

  __device__ void writePosition(int64_t start, int64_t end, int64_t at, bool alone, bool zero) const {
    Position position;
    for (int64_t place = start; place < end; place++) {
      const int32_t row = groups.members[place];
      if (summaries[row].counted <= at) continue;
      const int64_t listedAt = tokens.begin(row) + at;
      position.add(rowReturns[listedAt], rowWeights[listedAt]);
    }
    const double baseline = alone ? 0 : position.baseline();
    for (int64_t place = start; place < end; place++) {
      const int32_t row = groups.members[place];
      if (summaries[row].counted <= at) continue;
      const int64_t listedAt = tokens.begin(row) + at, token = rowTokens[listedAt];
      const double value = rowReturns[listedAt];
      advantages[token] = zero ? T(0) : saturated(value - baseline, T(0));
      returns[token] = saturated(value, T(0));
    }
  }
};

}  // namespace

template <class T>
void advantageOptimalBaseline(const OptimalBaselineInput<T>& in, int64_t tokens, const Groups& groups, T* advantages,
                              T* returns, GroupStats* stats, int64_t* status, Stream stream) {
  resetStatus(status, stream);
  const int64_t rows = in.tokens.count;
  const GroupMembers members(groups, rows, stats, stream);
  const Buffer<double> rowReturns(tokens, stream), rowWeights(tokens, stream);
  const Buffer<int32_t> rowTokens(tokens, stream);
  const Buffer<RowSummary> summaries(rows, stream);
  launch(ListRow<T>{DeviceRows(in.tokens),
                    in.rewards,
                    in.logProbs,
                    in.sumSquaredProbs,
                    in.mask,
                    in.gamma,
                    groups.excludeNaN,
                    {rowReturns.get(), rowWeights.get(), rowTokens.get()},
                    summaries.get(),
                    advantages,
                    returns,
                    status},
         warpPerRow(rows), stream);
  launch(BaselineOfGroup<T>{DeviceRows(in.tokens), members.view(), rowReturns.get(), rowWeights.get(), rowTokens.get(),
                            summaries.get(), advantages, returns, StatCounters(stats)},
         {groups.count, BaselineOfGroup<T>::kThreads}, stream);
}

template void advantageOptimalBaseline(const OptimalBaselineInput<float>&, int64_t, const Groups&, float*, float*,
                                       GroupStats*, int64_t*, Stream);
template void advantageOptimalBaseline(const OptimalBaselineInput<double>&, int64_t, const Groups&, double*, double*,
                                       GroupStats*, int64_t*, Stream);

}  // namespace minform::cuda
