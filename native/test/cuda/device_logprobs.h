// What a log-prob kernel gives on the device, beside what it gives on the host.
#pragma once

#include "../logprob_results.h"
#include "device_test.h"
#include "minform/cuda/logprob.h"

namespace minform::cuda {

template <class T>
struct DeviceResults {
  Output<T> logProbs, entropy, squares;
  Output<double> logSumExp;
  explicit DeviceResults(size_t rows) : logProbs(rows), entropy(rows), squares(rows), logSumExp(rows) {}
  LogProbOutput<T> out() const { return {logProbs.get(), entropy.get(), squares.get(), logSumExp.get()}; }
};

}  // namespace minform::cuda
