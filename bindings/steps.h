// Steps of responses as arguments.
#pragma once

#include "args.h"

namespace minform {

// Step ends must rise within their row: the kernels write the tokens between them.
inline void checkStepEnds(const Args& args, size_t index, const Rows& tokens, const Rows& steps,
                          const int32_t* stepEnds) {
  if (tokens.count != steps.count) args.fail(index, "has another number of rows");
  for (int64_t row = 0; row < steps.count; row++) {
    int64_t previous = -1;
    for (int64_t step = steps.begin(row); step < steps.end(row); step++) {
      if (stepEnds[step] <= previous || stepEnds[step] >= tokens.length(row)) args.fail(index, "leaves its row");
      previous = stepEnds[step];
    }
  }
}

}  // namespace minform
