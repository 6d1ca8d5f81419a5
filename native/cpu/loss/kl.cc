// KL penalty: a value estimator and a gradient estimator, chosen separately.
#include "walk.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

enum KlStream { kLogProb, kRefLogProb, kOldLogProb, kKlStreams };
enum KlOutput { kValues, kGradient, kKlOutputs };

// value(d) and its slope at log-ratio d = log pi - log pi_ref; e = exp(-d).
template <class T, KlEstimator estimator>
inline T valueAt(T d, T e) {
  if (estimator == KlEstimator::k1) return d;
  if (estimator == KlEstimator::k2) return T(0.5) * d * d;
  if (estimator == KlEstimator::k3) return expRest(-d, e);
  return d < 0 ? -d : d;
}
template <class T, KlEstimator estimator>
inline T slopeAt(T d, T e) {
  if (estimator == KlEstimator::k1) return T(1);
  if (estimator == KlEstimator::k2) return d;
  if (estimator == KlEstimator::k3) return -expMinusOne(-d, e);
  return static_cast<T>(d > 0) - static_cast<T>(d < 0);
}

template <class T, KlEstimator estimator, KlGradient gradient>
struct KlKernel {
  static constexpr bool kWeighted = gradient == KlGradient::importance;
  T limit;

  NoState row(const Streams<T, kKlStreams, kKlOutputs>&, int64_t, int64_t, Tally&) const { return {}; }

  int block(const Block<T, kKlStreams, kKlOutputs>& block, NoState, T scale, Tally& tally) const {
    const int count = block.count;
    const T *logProb = block.in[kLogProb], *ref = block.in[kRefLogProb], *old = block.in[kOldLogProb];
    alignas(64) T raw[kBlock], log[kBlock], k3[kBlock], value[kBlock], slope[kBlock];
    int32_t bad = 0, clampedTokens = 0;
    for (int i = 0; i < count; i++) {
      raw[i] = logProb[i] - ref[i];
      log[i] = clamped(raw[i], -limit, limit);
      const T e = expOf(-log[i]);
      k3[i] = expRest(-log[i], e);
      // The slope at the clamp stays: a penalty that saturates must not stop pulling.
      value[i] = valueAt<T, estimator>(log[i], e);
      slope[i] = gradient == KlGradient::k2 ? log[i] : slopeAt<T, estimator>(log[i], e);
      bad |= isNaN(raw[i]);
      clampedTokens += log[i] != raw[i];
    }
    if (kWeighted) {
      for (int i = 0; i < count; i++) {
        const T shift = logProb[i] - old[i];
        const T ratio = expOf(clamped(shift, -limit, limit));
        // d (ratio v) = ratio (v + v'); for k3 the sum is d, without its cancelling parts.
        slope[i] = ratio * (estimator == KlEstimator::k3 ? log[i] : value[i] + slope[i]);
        value[i] *= ratio;
        bad |= isNaN(shift);
      }
    }
    if (bad != 0) {
      for (int i = 0; i < count; i++) {
        if (isNaN(raw[i]) || (kWeighted && isNaN(logProb[i] - old[i]))) return i;
      }
    }
    T *values = block.out[kValues], *out = block.out[kGradient];
    for (int i = 0; i < count; i++) {
      values[i] = value[i] + T(0);
      out[i] = scale * slope[i] + T(0);
    }
    tally.loss += sumOf(value, count);
    tally.sums[kKlK1] += sumOf(log, count);
    tally.sums[kKlK3] += sumOf(k3, count);
    tally.sums[kKlClamped] += clampedTokens;
    if (clampedTokens > 0) tallyRaw(raw, log, count, tally.sums);
    tally.range(raw, count);
    return -1;
  }

 private:
  // What the clamp took away.
  static void tallyRaw(const T* raw, const T* log, int count, double* sums) {
    for (int i = 0; i < count; i++) {
      if (raw[i] == log[i]) continue;
      const double d = static_cast<double>(raw[i]), c = static_cast<double>(log[i]);
      sums[kKlRawK1] += d - c;
      sums[kKlRawK3] += restBeyond(-d, -c);
    }
  }
};

template <class T, KlEstimator estimator, KlGradient gradient>
int64_t run(const KlInput<T>& in, const Aggregation& aggregation, T* values, T* gradLogProbs, double* slots) {
  // On-policy (no old log-probs) the ratio is 1: log pi stands in for itself.
  const T* old = in.oldLogProbs == nullptr || gradient != KlGradient::importance ? in.logProbs : in.oldLogProbs;
  const Streams<T, kKlStreams, kKlOutputs> streams{
      in.rows, in.mask, {perToken(in.logProbs), perToken(in.refLogProbs), perToken(old)}, {values, gradLogProbs}};
  const KlKernel<T, estimator, gradient> kernel{static_cast<T>(in.logRatioClamp)};
  return walk<T>(streams, kernel, aggregation, slots);
}

template <class T, KlEstimator estimator>
int64_t byGradient(const KlInput<T>& in, const Aggregation& aggregation, T* values, T* grad, double* slots) {
  switch (in.gradient) {
    case KlGradient::same:
      return run<T, estimator, KlGradient::same>(in, aggregation, values, grad, slots);
    case KlGradient::k2:
      return run<T, estimator, KlGradient::k2>(in, aggregation, values, grad, slots);
    case KlGradient::importance:
      return run<T, estimator, KlGradient::importance>(in, aggregation, values, grad, slots);
  }
  return kOk;
}

}  // namespace

template <class T>
int64_t kl(const KlInput<T>& in, const Aggregation& aggregation, T* values, T* gradLogProbs, double* slots) {
  switch (in.estimator) {
    case KlEstimator::k1:
      return byGradient<T, KlEstimator::k1>(in, aggregation, values, gradLogProbs, slots);
    case KlEstimator::k2:
      return byGradient<T, KlEstimator::k2>(in, aggregation, values, gradLogProbs, slots);
    case KlEstimator::k3:
      return byGradient<T, KlEstimator::k3>(in, aggregation, values, gradLogProbs, slots);
    case KlEstimator::abs:
      return byGradient<T, KlEstimator::abs>(in, aggregation, values, gradLogProbs, slots);
  }
  return kOk;
}

template int64_t kl(const KlInput<float>&, const Aggregation&, float*, float*, double*);
template int64_t kl(const KlInput<double>&, const Aggregation&, double*, double*, double*);

}  // namespace MINFORM_ISA
}  // namespace minform
