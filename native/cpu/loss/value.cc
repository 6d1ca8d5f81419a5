// Value loss and entropy bonus.
#include "walk.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

enum ValueStream { kValue, kOldValue, kReturn, kValueStreams };

// (1/2) max((v - R)^2, (clip(v, old +- range) - R)^2), in float64 whatever T is: squares of float32 overflow.
template <class T>
struct ValueKernel {
  bool clips;
  double range;

  NoState row(const Streams<T, kValueStreams, 1>&, int64_t, int64_t, Tally&) const { return {}; }

  int block(const Block<T, kValueStreams, 1>& block, NoState, T scale, Tally& tally) const {
    const int count = block.count;
    const T *value = block.in[kValue], *old = block.in[kOldValue], *target = block.in[kReturn];
    alignas(64) double loss[kBlock], error[kBlock];
    int32_t bad = 0, clipped = 0;
    T* out = block.out[0];
    for (int i = 0; i < count; i++) {
      const double v = value[i], o = old[i], r = target[i];
      error[i] = v - r;
      const double bounded = clips ? clamped(v, o - range, o + range) - r : error[i];
      const double plainSquare = error[i] * error[i], boundedSquare = bounded * bounded;
      // On a tie the unclipped term's gradient flows.
      const bool clip = boundedSquare > plainSquare;
      loss[i] = 0.5 * (clip ? boundedSquare : plainSquare);
      bad |= !isFinite(v) || !isFinite(r) || !isFinite(o);
      clipped += clip;
      out[i] = clip ? T(0) : static_cast<T>(scale * error[i] + 0.0);
    }
    if (bad != 0) {
      int at = 0;
      while (isFinite(value[at]) && isFinite(target[at]) && isFinite(old[at])) at++;
      return at;
    }
    tally.loss += sumOf(loss, count);
    tally.sums[kValueError] += sumOf(error, count);
    tally.sums[kValueSquaredError] += sumOfSquares(error, count);
    tally.sums[kValueClipped] += clipped;
    return -1;
  }
};

// -H: the bonus as a loss to minimise.
template <class T>
struct EntropyKernel {
  NoState row(const Streams<T, 1, 1>&, int64_t, int64_t, Tally&) const { return {}; }

  int block(const Block<T, 1, 1>& block, NoState, T scale, Tally& tally) const {
    int32_t bad = 0;
    for (int i = 0; i < block.count; i++) {
      bad |= !isFinite(block.in[0][i]);
      block.out[0][i] = T(0) - scale;
    }
    if (bad != 0) {
      int at = 0;
      while (isFinite(block.in[0][at])) at++;
      return at;
    }
    const double sum = sumOf(block.in[0], block.count);
    tally.loss -= sum;
    tally.sums[kEntropySum] += sum;
    return -1;
  }
};

}  // namespace

template <class T>
int64_t value(const ValueInput<T>& in, const Aggregation& aggregation, T* gradValues, double* slots) {
  const bool clips = in.oldValues != nullptr;
  const Streams<T, kValueStreams, 1> streams{
      in.rows, in.mask, {perToken(in.values), perTokenOr(in.oldValues, T(0)), perToken(in.returns)}, {gradValues}};
  return walk<T>(streams, ValueKernel<T>{clips, in.clipRange}, aggregation, slots);
}

template <class T>
int64_t entropy(const Rows& rows, const T* entropy, const uint8_t* mask, const Aggregation& aggregation, T* gradEntropy,
                double* slots) {
  const Streams<T, 1, 1> streams{rows, mask, {perToken(entropy)}, {gradEntropy}};
  return walk<T>(streams, EntropyKernel<T>{}, aggregation, slots);
}

template int64_t value(const ValueInput<float>&, const Aggregation&, float*, double*);
template int64_t value(const ValueInput<double>&, const Aggregation&, double*, double*);
template int64_t entropy(const Rows&, const float*, const uint8_t*, const Aggregation&, float*, double*);
template int64_t entropy(const Rows&, const double*, const uint8_t*, const Aggregation&, double*, double*);

}  // namespace MINFORM_ISA
}  // namespace minform
