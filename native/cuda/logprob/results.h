// What a row gives once all of its logits are known.
#pragma once

#include "arithmetic/partial.h"
#include "minform/logprob.h"
#include "reduce.h"

namespace minform::cuda {

template <class T>
struct RowResults {
  Global<T> logProbs, entropy, sumSquaredProbs;
  Global<double> logSumExp;
  Global<int64_t> status;

  RowResults(const LogProbOutput<T>& out, int64_t* status)
      : logProbs(out.logProbs),
        entropy(out.entropy),
        sumSquaredProbs(out.sumSquaredProbs),
        logSumExp(out.logSumExp),
        status(status) {}

  __device__ __forceinline__ void write(int64_t row, const Partial& whole, double target,
                                        double inverseTemperature) const {
    if (!(whole.sum > 0)) {
      reportBad(status, row);
      return;
    }
    const RowStatistics found(whole, inverseTemperature);
    logSumExp[row] = found.logSumExp();
    logProbs[row] = static_cast<T>(found.logProb(target));
    if (entropy != nullptr) entropy[row] = static_cast<T>(larger(0.0, found.entropy()));
    if (sumSquaredProbs != nullptr) sumSquaredProbs[row] = static_cast<T>(found.sumSquaredProbs());
  }
};

}  // namespace minform::cuda
