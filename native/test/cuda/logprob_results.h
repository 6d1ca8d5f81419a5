// What the log-prob kernels give, on the host and on the device.
#pragma once

#include <vector>

#include "device_test.h"
#include "minform/cuda/logprob.h"

namespace minform::cuda {

template <class T>
struct Results {
  std::vector<T> logProbs, entropy, squares;
  std::vector<double> logSumExp;
  explicit Results(size_t rows) : logProbs(rows), entropy(rows), squares(rows), logSumExp(rows) {}
  LogProbOutput<T> out() { return {logProbs.data(), entropy.data(), squares.data(), logSumExp.data()}; }
};

template <class T>
struct DeviceResults {
  Output<T> logProbs, entropy, squares;
  Output<double> logSumExp;
  explicit DeviceResults(size_t rows) : logProbs(rows), entropy(rows), squares(rows), logSumExp(rows) {}
  LogProbOutput<T> out() const { return {logProbs.get(), entropy.get(), squares.get(), logSumExp.get()}; }
};

}  // namespace minform::cuda
