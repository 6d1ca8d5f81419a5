// Value loss and entropy bonus.
#include "pass.h"

namespace minform::cuda {
namespace {

struct NoState {};

// (1/2) max((v - R)^2, (clip(v, old +- range) - R)^2), in float64 whatever T is: squares of float32 overflow.
template <class T>
struct ValueTerms {
  static constexpr int kSums = kValueClipped;  // and a count after them
  using Sums = Totals<T, kSums, kValueTallies - kSums>;
  using State = NoState;
  Global<const T> values, oldValues, returns;  // old: null without clipping
  double range;
  Global<T> gradient;
  Global<int64_t> status;

  __device__ State start(const PlanView&, int32_t, bool, Sums&) const { return {}; }

  __device__ void token(int32_t i, State, int32_t, T scale, Sums& totals) const {
    const double value = values[i], target = returns[i], error = value - target;
    const double old = oldValues == nullptr ? 0 : static_cast<double>(oldValues[i]);
    if (!isFinite(value) || !isFinite(target) || !isFinite(old)) {
      reportBad(status, i);
      return;
    }
    const double bounded = oldValues == nullptr ? error : clamped(value, old - range, old + range) - target;
    const double plainSquare = error * error, boundedSquare = bounded * bounded;
    // On a tie the unclipped term's gradient flows.
    const bool clip = boundedSquare > plainSquare;
    gradient[i] = clip ? T(0) : static_cast<T>(scale * error + 0.0);
    totals.loss += 0.5 * (clip ? boundedSquare : plainSquare);
    totals.sums[kValueError] += error;
    totals.sums[kValueSquaredError] += plainSquare;
    totals.count(kValueClipped - kSums, clip);
  }
};

// -H: the bonus as a loss to minimise.
template <class T>
struct EntropyTerms {
  using Sums = Totals<T, kEntropyTallies, 0>;
  using State = NoState;
  Global<const T> entropy;
  Global<T> gradient;
  Global<int64_t> status;

  __device__ State start(const PlanView&, int32_t, bool, Sums&) const { return {}; }

  __device__ void token(int32_t i, State, int32_t, T scale, Sums& totals) const {
    const T own = entropy[i];
    if (!isFinite(own)) reportBad(status, i);
    gradient[i] = T(0) - scale;
    totals.loss -= own;
    totals.sums[kEntropySum] += own;
  }
};

}  // namespace

template <class T>
void lossValue(const ValueInput<T>& in, int64_t tokens, const Aggregation& aggregation, T* gradValues, double* slots,
               int64_t* status, Stream stream) {
  resetStatus(status, stream);
  const Plan plan(in.rows, tokens, in.mask, aggregation, status, stream);
  clearHidden<T>(in.mask, tokens, gradValues, nullptr, stream);
  runLoss<T>(plan, ValueTerms<T>{in.values, in.oldValues, in.returns, in.clipRange, gradValues, status}, slots, stream);
}

template <class T>
void lossEntropy(const Rows& rows, int64_t tokens, const T* entropy, const uint8_t* mask,
                 const Aggregation& aggregation, T* gradEntropy, double* slots, int64_t* status, Stream stream) {
  resetStatus(status, stream);
  const Plan plan(rows, tokens, mask, aggregation, status, stream);
  clearHidden<T>(mask, tokens, gradEntropy, nullptr, stream);
  runLoss<T>(plan, EntropyTerms<T>{entropy, gradEntropy, status}, slots, stream);
}

template void lossValue(const ValueInput<float>&, int64_t, const Aggregation&, float*, double*, int64_t*, Stream);
template void lossValue(const ValueInput<double>&, int64_t, const Aggregation&, double*, double*, int64_t*, Stream);
template void lossEntropy(const Rows&, int64_t, const float*, const uint8_t*, const Aggregation&, float*, double*,
                          int64_t*, Stream);
template void lossEntropy(const Rows&, int64_t, const double*, const uint8_t*, const Aggregation&, double*, double*,
                          int64_t*, Stream);

}  // namespace minform::cuda
