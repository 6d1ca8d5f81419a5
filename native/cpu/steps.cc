#include <algorithm>

#include "minform/credit.h"

namespace minform {

int64_t findStepEnds(const Rows& tokens, const int32_t* ids, const uint8_t* mask, const int32_t* separators,
                     int64_t separatorCount, const int32_t* eos, int64_t eosCount, int32_t* stepEnds,
                     int32_t* stepOffsets, uint8_t* separatorTokens) {
  int64_t found = 0;
  stepOffsets[0] = 0;
  for (int64_t row = 0; row < tokens.count; row++) {
    const int64_t begin = tokens.begin(row), rowStart = found;
    int64_t lastCounted = -1;
    for (int64_t i = begin; i < tokens.end(row); i++) {
      separatorTokens[i] = 0;
      if (mask != nullptr && mask[i] == 0) continue;
      lastCounted = i;
      if (std::binary_search(separators, separators + separatorCount, ids[i]) ||
          std::binary_search(eos, eos + eosCount, ids[i])) {
        separatorTokens[i] = 1;
        stepEnds[found++] = static_cast<int32_t>(i - begin);
      }
    }
    const bool closed = found > rowStart && stepEnds[found - 1] == lastCounted - begin;
    if (lastCounted >= 0 && !closed) stepEnds[found++] = static_cast<int32_t>(lastCounted - begin);
    stepOffsets[row + 1] = static_cast<int32_t>(found);
  }
  return found;
}

}  // namespace minform
