// KL penalty: a value estimator and a gradient estimator, chosen separately.
#include "pass.h"

namespace minform::cuda {
namespace {

struct NoState {};

template <class T>
struct KlTerms {
  static constexpr int kSums = kKlClamped;  // and a count after them
  using Sums = Totals<T, kSums, kKlTallies - kSums>;
  using State = NoState;
  KlEstimator estimator;
  KlGradient kind;
  T limit;
  Global<const T> logProbs, refLogProbs, oldLogProbs;  // old: null for a ratio of 1
  Global<T> values, gradient;
  Global<int64_t> status;

  __device__ State start(const PlanView&, int32_t, bool, Sums&) const { return {}; }

  // At log-ratio d = log pi - log pi_ref; e = exp(-d), k3 the estimator of that name.
  __device__ T valueAt(T d, T k3) const {
    if (estimator == KlEstimator::k1) return d;
    if (estimator == KlEstimator::k2) return T(0.5) * d * d;
    if (estimator == KlEstimator::k3) return k3;
    return d < 0 ? -d : d;
  }
  __device__ T slopeAt(T d, T e) const {
    if (kind == KlGradient::k2) return d;
    if (estimator == KlEstimator::k1) return T(1);
    if (estimator == KlEstimator::k2) return d;
    if (estimator == KlEstimator::k3) return -expMinusOne(-d, e);
    return static_cast<T>(d > 0) - static_cast<T>(d < 0);
  }

  __device__ void token(int32_t i, State, int32_t, T scale, Sums& totals) const {
    const T logProb = logProbs[i], raw = logProb - refLogProbs[i];
    const T d = clamped(raw, -limit, limit), e = expOf(-d), k3 = expRest(-d, e);
    // The slope at the clamp stays: a penalty that saturates must not stop pulling.
    T value = valueAt(d, k3), slope = slopeAt(d, e);
    bool bad = raw != raw;
    if (kind == KlGradient::importance) {
      const T shift = oldLogProbs == nullptr ? logProb - logProb : logProb - oldLogProbs[i];
      const T ratio = expOf(clamped(shift, -limit, limit));
      // d (ratio v) = ratio (v + v'); for k3 the sum is d, without its cancelling parts.
      slope = ratio * (estimator == KlEstimator::k3 ? d : value + slope);
      value *= ratio;
      bad = bad || shift != shift;
    }
    if (bad) {
      reportBad(status, i);
      return;
    }
    values[i] = value + T(0);
    gradient[i] = scale * slope + T(0);
    totals.loss += value;
    totals.sums[kKlK1] += d;
    totals.sums[kKlK3] += k3;
    totals.count(kKlClamped - kSums, d != raw);
    if (d != raw) {
      // What the clamp took away.
      totals.sums[kKlRawK1] += static_cast<double>(raw) - static_cast<double>(d);
      totals.sums[kKlRawK3] += restBeyond(-static_cast<double>(raw), -static_cast<double>(d));
    }
    totals.range(raw);
  }
};

}  // namespace

template <class T>
void lossKl(const KlInput<T>& in, int64_t tokens, const Aggregation& aggregation, T* values, T* gradLogProbs,
            double* slots, int64_t* status, Stream stream) {
  resetStatus(status, stream);
  const Plan plan(in.rows, tokens, in.mask, aggregation, status, stream);
  clearHidden<T>(in.mask, tokens, gradLogProbs, values, stream);
  runLoss<T>(plan,
             KlTerms<T>{in.estimator, in.gradient, static_cast<T>(in.logRatioClamp), in.logProbs, in.refLogProbs,
                        in.oldLogProbs, values, gradLogProbs, status},
             slots, stream);
}

template void lossKl(const KlInput<float>&, int64_t, const Aggregation&, float*, float*, double*, int64_t*, Stream);
template void lossKl(const KlInput<double>&, int64_t, const Aggregation&, double*, double*, double*, int64_t*, Stream);

}  // namespace minform::cuda
