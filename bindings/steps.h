// Steps of responses as arguments.
#pragma once

#include "args.h"

namespace minform {

// Step ends must rise within their row: the kernels write the tokens between them. Both Rows are the host's.
inline const int32_t* stepEndsOf(const Args& args, size_t index, const Rows& tokens, const Rows& steps) {
  const Known<int32_t> ends = args.known<int32_t>(index, steps.total());
  const int32_t* stepEnds = ends.host;
  if (tokens.count != steps.count) args.fail(index, "has another number of rows");
  for (int64_t row = 0; row < steps.count; row++) {
    int64_t previous = -1;
    for (int64_t step = steps.begin(row); step < steps.end(row); step++) {
      if (stepEnds[step] <= previous || stepEnds[step] >= tokens.length(row)) args.fail(index, "leaves its row");
      previous = stepEnds[step];
    }
  }
  return ends.data;
}

}  // namespace minform
