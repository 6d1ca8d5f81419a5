// Groups of responses and their statistics as arguments.
#pragma once

#include "call.h"
#include "minform/advantage.h"

namespace minform::c {

static_assert(sizeof(minform_group_stats) == sizeof(GroupStats), "one layout");

inline Groups groupsOf(const minform_call* call, const minform_groups* groups, int64_t rows) {
  require(groups != nullptr && groups->index != nullptr, "groups: expected minform_groups with an index, got NULL");
  require(groups->count >= 1 && groups->count <= 2147483647, "groups->count: expected at least one group");
  for (int64_t row = 0; onHost(call) && row < rows; row++) {
    require(groups->index[row] >= 0 && groups->index[row] < groups->count,
            "groups->index: expected numbers in [0, count)");
  }
  return {groups->index, groups->count, groups->raw_singletons != 0, groups->exclude_nan != 0};
}

// Runs an estimator with statistics, the caller's or none: onHost(stats) -> status; onGpu(stats, status, stream).
template <class OnHost, class OnGpu>
minform_error runInGroups(const minform_call* call, minform_group_stats* stats, OnHost onHost, OnGpu onGpu) {
  GroupStats* given = reinterpret_cast<GroupStats*>(stats);
  return run(
      call,
      [&] {
        GroupStats own;
        const int64_t status = onHost(&own);
        if (given != nullptr) *given = own;
        return status;
      },
      [&](auto status, auto stream) {
        const cuda::Buffer<GroupStats> own(given == nullptr ? 1 : 0, stream);
        onGpu(given == nullptr ? own.get() : given, status, stream);
      });
}

}  // namespace minform::c
