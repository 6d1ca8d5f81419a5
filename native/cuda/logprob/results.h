// What a row gives once all of its logits are known.
#pragma once

#include "minform/logprob.h"
#include "partial.h"

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
    const double logSum = log(whole.sum);
    logSumExp[row] = whole.max * inverseTemperature + logSum;
    // + 0.0: a certain token has log-prob and entropy +0.
    logProbs[row] = static_cast<T>((target - whole.max) * inverseTemperature - logSum + 0.0);
    if (entropy != nullptr) entropy[row] = static_cast<T>(larger(0.0, logSum - whole.weighted / whole.sum));
    if (sumSquaredProbs != nullptr) sumSquaredProbs[row] = static_cast<T>(whole.squares / (whole.sum * whole.sum));
  }
};

}  // namespace minform::cuda
