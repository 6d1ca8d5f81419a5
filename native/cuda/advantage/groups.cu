#include "groups.h"

namespace minform::cuda {
namespace {

// A warp per group looks at all rows twice: how many are in lower groups and in its own, then which. That is quadratic,
// but the index fits in the caches and nothing has to be sorted.
struct FindMembers {
  static constexpr int kThreads = kRowWarps * kWarp;
  int64_t groups, rows;
  Global<const int32_t> index;
  Global<int32_t> starts, sizes, members;
  Global<int64_t> stats;

  __device__ void operator()() const {
    const int64_t group = rowOfWarp();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      stats[0] = groups;
      for (int word = 1; word < 4; word++) stats[word] = 0;
      stats[4] = -1;
    }
    if (group >= groups) return;
    int32_t lower = 0, own = 0;
    for (int64_t i = laneIndex(); i < rows; i += kWarp) {
      const int32_t other = index[i];
      lower += other < group;
      own += other == group;
    }
    lower = warpReduce(lower, Sum());
    own = warpReduce(own, Sum());
    if (laneIndex() == 0) {
      starts[group] = lower;
      sizes[group] = own;
    }
    int32_t at = lower;
    for (int64_t base = 0; base < rows && at < lower + own; base += kWarp) {
      const int64_t i = base + laneIndex();
      const bool mine = i < rows && index[i] == group;
      const uint32_t votes = __ballot_sync(kAllLanes, mine);
      if (mine) members[at + __popc(votes & ((1u << laneIndex()) - 1))] = static_cast<int32_t>(i);
      at += __popc(votes);
    }
  }
};

}  // namespace

GroupMembers::GroupMembers(const Groups& groups, int64_t rows, GroupStats* stats, Stream stream)
    : groups_(groups), starts_(groups.count, stream), sizes_(groups.count, stream), members_(rows, stream) {
  // One block at least: it empties the statistics.
  const Shape shape = warpPerRow(groups.count > 0 ? groups.count : 1);
  launch(FindMembers{groups.count, rows, groups.index, starts_.get(), sizes_.get(), members_.get(),
                     reinterpret_cast<int64_t*>(stats)},
         shape, stream);
}

}  // namespace minform::cuda
