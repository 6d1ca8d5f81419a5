// Token sampling on the device: the contract of minform/sampling.h with every pointer, the counters included, on the
// device. The first row without a defined distribution is reported in `status`; its outputs are then unspecified.
#pragma once

#include "minform/cuda/runtime.h"
#include "minform/sampling.h"

namespace minform::cuda {

template <class T>
void sampleTokens(const Matrix& logits, const SamplingRule& rule, uint64_t seed, const RandomCounter* counters,
                  const SamplingOutput<T>& out, int64_t* status, Stream stream);

}  // namespace minform::cuda
