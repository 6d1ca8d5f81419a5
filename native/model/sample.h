// Drawing a token from a row of logits.
#pragma once

#include <cstdint>
#include <vector>

#include "minform/model.h"

namespace minform {

// The token that `uniform` selects, or -1 when a logit is NaN. Overwrites the logits. Truncation is in the order min-p,
// top-k, top-p (of what is left); of equal tokens the one with the smaller id comes first.
template <class T>
int32_t sampleToken(T* logits, int64_t count, const SamplingRule& rule, double uniform);

}  // namespace minform
