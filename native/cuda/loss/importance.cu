// Importance weights for rollouts sampled by another policy than the one that is trained.
#include "pass.h"

namespace minform::cuda {
namespace {

struct NoState {};

// Infinite log-ratios count as this in sums over a row, where +Infinity and -Infinity may meet.
constexpr double kLargestLogRatio = 1e30;

// The log-weight of a row: the sum of its log-ratios.
template <class T>
struct RowLogRatio {
  using Sums = Totals<T, 0, 0>;
  using State = NoState;
  Global<const T> oldLogProbs, rolloutLogProbs;

  __device__ State start(const PlanView&, int32_t, bool, Sums&) const { return {}; }
  __device__ void token(int32_t i, State, int32_t, T, Sums& totals) const {
    const double ratio = static_cast<double>(oldLogProbs[i]) - static_cast<double>(rolloutLogProbs[i]);
    totals.loss += clamped(ratio, -kLargestLogRatio, kLargestLogRatio);
  }
};

struct RowWeight {
  double raw, corrected;
  int32_t clamped;
};

template <class W>
__device__ __forceinline__ bool isOutside(W raw, W least, W most) {
  return raw < least || most < raw;
}
template <class W>
__device__ __forceinline__ W correct(Correction correction, W raw, W least, W most) {
  return isOutside(raw, least, most) && correction == Correction::mask ? W(0) : clamped(raw, least, most);
}

// From the log-weight of a row to its weight. A thread per row.
struct FinishRow {
  static constexpr int kThreads = 128;
  static constexpr int kColumns = Totals<double, 0, 0>::kColumns;
  PlanView plan;
  WeightLevel level;
  Correction correction;
  double low, high, limit;
  Global<const double> totals;
  Global<RowWeight> weights;

  __device__ void operator()() const {
    const int64_t row = elementOfThread();
    if (row >= plan.rows.count || plan.lengths[row] == 0) return;
    const double sum = totals[row * kColumns], length = static_cast<double>(plan.lengths[row]);
    const double logWeight = level == WeightLevel::sequenceMean ? sum / length : sum;
    const double log = clamped(logWeight, -limit, limit), raw = exp(log);
    weights[row] = RowWeight{raw, correct(correction, raw, low, high), log != logWeight};
  }
};

template <class T>
struct WeightTerms {
  using Sums = Totals<T, kWeightTallies, 0>;
  using State = T;  // the weight that all tokens of the row share
  Correction correction;
  WeightLevel level;
  double low, high;
  T limit;
  Global<const T> oldLogProbs, rolloutLogProbs;
  Global<const RowWeight> rowWeights;  // null at token level
  Global<T> weights;
  Global<int64_t> status;

  // Units: tokens, or responses.
  template <class W>
  __device__ void tallyUnit(W raw, W corrected, bool clamp, Sums& totals) const {
    const double wide = raw, wideCorrected = corrected;
    totals.sums[kWeightUnits] += 1;
    totals.sums[kWeightRaw] += wide;
    totals.sums[kWeightRawSquared] += wide * wide;
    totals.sums[kWeightCorrected] += wideCorrected;
    totals.sums[kWeightCorrectedSquared] += wideCorrected * wideCorrected;
    totals.sums[kWeightOutside] += isOutside(raw, static_cast<W>(low), static_cast<W>(high));
    totals.sums[kWeightClamped] += clamp;
  }

  __device__ State start(const PlanView&, int32_t row, bool first, Sums& totals) const {
    if (level == WeightLevel::token) return 0;
    const RowWeight own = rowWeights[row];
    if (first) tallyUnit(own.raw, own.corrected, own.clamped != 0, totals);
    return static_cast<T>(own.corrected);
  }

  __device__ void token(int32_t i, State rowWeight, int32_t, T, Sums& totals) const {
    const T raw = oldLogProbs[i] - rolloutLogProbs[i], log = clamped(raw, -limit, limit);
    const T ratio = expOf(log);
    if (raw != raw) reportBad(status, i);
    T weight = rowWeight;
    if (level == WeightLevel::token) {
      weight = correct(correction, ratio, static_cast<T>(low), static_cast<T>(high));
      tallyUnit(ratio, weight, log != raw, totals);
    }
    weights[i] = weight;
    totals.sums[kWeightOverTokens] += weight;
    totals.sums[kWeightK1] -= log;
    totals.sums[kWeightK3] += expRest(log, ratio);
    totals.range(raw);
  }
};

template <class T>
struct Normalise {
  static constexpr int kThreads = 256;
  int64_t tokens;
  Global<const uint8_t> mask;
  Correction correction;
  double normalizer;
  Global<const double> slots;
  Global<T> weights;
  Global<uint8_t> kept;

  __device__ void operator()() const {
    const int64_t i = elementOfThread();
    if (i >= tokens) return;
    const double count = slots[kTokens], mean = count == 0 ? 0 : slots[kTallies + kWeightOverTokens] / count;
    const double divisor = normalizer == 0 ? mean : normalizer;
    const T weight = weights[i];
    // A rejected weight is exactly 0, and no other is: exp of a clamped log-weight is positive.
    kept[i] = trained(mask, i) && (correction == Correction::truncate || weight != 0);
    if (weight != 0 && divisor != 1) weights[i] = static_cast<T>(static_cast<double>(weight) / divisor);
  }
};

}  // namespace

template <class T>
void lossImportanceWeights(const WeightInput<T>& in, int64_t tokens, T* weights, uint8_t* kept, double* slots,
                           int64_t* status, Stream stream) {
  resetStatus(status, stream);
  const Plan plan(in.rows, tokens, in.mask, {AggregationMode::sum, nullptr, 0, nullptr, 1}, status, stream);
  clearHidden<T>(in.mask, tokens, weights, nullptr, stream);
  const bool byRow = in.level != WeightLevel::token;
  const Buffer<RowWeight> rowWeights(byRow ? in.rows.count : 0, stream);
  if (byRow) {
    const Buffer<double> totals(in.rows.count * FinishRow::kColumns, stream);
    runPass<T>(plan.view(), RowLogRatio<T>{in.oldLogProbs, in.rolloutLogProbs}, totals.get(), stream);
    launch(FinishRow{plan.view(), in.level, in.correction, in.low, in.high, in.logRatioClamp, totals.get(),
                     rowWeights.get()},
           threadPerElement(in.rows.count, FinishRow::kThreads), stream);
  }
  runLoss<T>(plan,
             WeightTerms<T>{in.correction, in.level, in.low, in.high, static_cast<T>(in.logRatioClamp), in.oldLogProbs,
                            in.rolloutLogProbs, rowWeights.get(), weights, status},
             slots, stream);
  launch(Normalise<T>{tokens, in.mask, in.correction, in.normalizer, slots, weights, kept},
         threadPerElement(tokens, Normalise<T>::kThreads), stream);
}

template void lossImportanceWeights(const WeightInput<float>&, int64_t, float*, uint8_t*, double*, int64_t*, Stream);
template void lossImportanceWeights(const WeightInput<double>&, int64_t, double*, uint8_t*, double*, int64_t*, Stream);

}  // namespace minform::cuda
