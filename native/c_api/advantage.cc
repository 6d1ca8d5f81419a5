#include "minform/advantage.h"

#include "call.h"
#include "minform/cuda/advantage.h"

using namespace minform;
using namespace minform::c;

minform_error minform_rloo(const minform_call* call, minform_dtype dtype, int64_t rows, const void* rewards,
                           const int32_t* groups, int64_t group_count, void* advantages) {
  return guarded([&] {
    require(rows >= 1 && rows <= 2147483647, "rows: expected at least one response");
    require(rewards != nullptr && groups != nullptr && advantages != nullptr,
            "rewards, groups, advantages: expected memory, got NULL");
    require(group_count >= 1 && group_count <= 2147483647, "group_count: expected at least one group");
    if (call != nullptr && call->device == MINFORM_HOST) {
      for (int64_t row = 0; row < rows; row++) {
        require(groups[row] >= 0 && groups[row] < group_count, "groups: expected numbers in [0, group_count)");
      }
    }
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const OutcomeRule rule{OutcomeForm::rloo, GroupStd::none, 0, 1};
      const OutcomeInput<T> in{static_cast<const T*>(rewards), nullptr, rows};
      const Groups within{groups, group_count, false, false};
      T* out = static_cast<T*>(advantages);
      return run(
          call,
          [&] {
            GroupStats stats;
            return advantage<T>().outcomes(rule, in, within, out, &stats);
          },
          [&](auto status, auto stream) {
            const cuda::Buffer<GroupStats> stats(1, stream);
            cuda::advantageOutcomes(rule, in, within, out, stats.get(), status, stream);
          });
    });
  });
}

minform_error minform_gae(const minform_call* call, minform_dtype dtype, double gamma, double lambda, int64_t rows,
                          int64_t total, const int32_t* offsets, const void* rewards, const void* values,
                          const uint8_t* mask, const void* bootstrap, void* advantages, void* returns) {
  return guarded([&] {
    require(gamma >= 0 && gamma <= 1, "gamma: expected a number in [0, 1]");
    require(lambda >= 0 && lambda <= 1, "lambda: expected a number in [0, 1]");
    require(rewards != nullptr && values != nullptr && advantages != nullptr && returns != nullptr,
            "rewards, values, advantages, returns: expected memory, got NULL");
    const Rows tokens = rowsOf(call, offsets, rows, total);
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const GaeInput<T> in{tokens,
                           static_cast<const T*>(rewards),
                           static_cast<const T*>(values),
                           mask,
                           static_cast<const T*>(bootstrap),
                           gamma,
                           lambda,
                           lambda};
      T* out = static_cast<T*>(advantages);
      T* targets = static_cast<T*>(returns);
      return run(
          call, [&] { return advantage<T>().gae(in, out, targets); },
          [&](auto status, auto stream) { cuda::advantageGae(in, out, targets, status, stream); });
    });
  });
}
