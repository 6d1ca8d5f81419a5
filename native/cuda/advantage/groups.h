// The rows of each group, and means over a group that neither cancel nor overflow. What is per group is one thread's
// work, in the order of the rows: groups are small and there are many.
#pragma once

#include "arithmetic/centre.h"
#include "launch.h"
#include "minform/cuda/advantage.h"
#include "reduce.h"
#include "rows.h"

namespace minform::cuda {

// As kernels see them: the rows of group g, rising, are members[starts[g]] .. members[starts[g] + sizes[g] - 1].
struct GroupView {
  int64_t count;
  bool rawSingletons, excludeNaN;
  Global<const int32_t> starts, sizes, members;
};

// GroupStats as counters.
struct StatCounters {
  Global<int64_t> words;

  explicit StatCounters(GroupStats* stats) : words(reinterpret_cast<int64_t*>(stats)) {
    static_assert(sizeof(GroupStats) == 5 * sizeof(int64_t), "five words");
  }
  __device__ __forceinline__ void singleton(int64_t row) const {
    addCount(words, 1, 1);
    reportBad(words + 4, row);  // the lowest stays
  }
  __device__ __forceinline__ void zeroVariance() const { addCount(words, 2, 1); }
  __device__ __forceinline__ void exclude(int64_t rows) const {
    if (rows > 0) addCount(words, 3, rows);
  }
};

// Sorts the rows by group on the stream, and empties the statistics.
class GroupMembers {
 public:
  GroupMembers(const Groups& groups, int64_t rows, GroupStats* stats, Stream stream);
  GroupView view() const {
    return {groups_.count, groups_.rawSingletons, groups_.excludeNaN, starts_.get(), sizes_.get(), members_.get()};
  }

 private:
  Groups groups_;
  Buffer<int32_t> starts_, sizes_, members_;
};

// Of values[0 .. count), count > 0, which are replaced by centre.inside(value).
__device__ __forceinline__ Centre centreInPlace(const Global<double>& values, int64_t count) {
  double low = values[0], high = low;
  for (int64_t i = 1; i < count; i++) {
    const double value = values[i];
    low = smaller(low, value);
    high = larger(high, value);
  }
  const Centre centre(low, high);
  for (int64_t i = 0; i < count; i++) values[i] = centre.inside(values[i]);
  return centre;
}

// means[i] = sum_{j != i} w_j y_j / sum_{j != i} w_j from the sums before and after i, never by subtraction; 0 where
// the others weigh nothing. Null weights are all 1. `after` is scratch of the same length, as is `weightAfter`, which
// only weights need.
__device__ __forceinline__ void leaveOneOut(const Global<const double>& y, const Global<const double>& w, int64_t count,
                                            const Global<double>& after, const Global<double>& weightAfter,
                                            const Global<double>& means) {
  const auto weightOf = [&](int64_t i) { return w == nullptr ? 1.0 : static_cast<double>(w[i]); };
  double sum = 0, weightSum = 0;
  for (int64_t i = count - 1; i >= 0; i--) {
    after[i] = sum;
    if (w != nullptr) weightAfter[i] = weightSum;
    sum += weightOf(i) * y[i];
    weightSum += weightOf(i);
  }
  double before = 0, weightBefore = 0;
  for (int64_t i = 0; i < count; i++) {
    const double others = w == nullptr ? static_cast<double>(count - 1) : weightBefore + weightAfter[i];
    means[i] = others == 0 ? 0 : (before + after[i]) / others;
    before += weightOf(i) * y[i];
    weightBefore += weightOf(i);
  }
}

}  // namespace minform::cuda
