// Importance weights for rollouts sampled by another policy than the one that is trained.
#include "walk.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

enum WeightStream { kOldLogProb, kRolloutLogProb, kWeightStreams };

// Infinite log-ratios count as this in sums over a row, where +Infinity and -Infinity may meet.
constexpr double kLargestLogRatio = 1e30;

template <class T>
struct WeightKernel {
  using WeightStreams = Streams<T, kWeightStreams, 1>;
  using WeightBlock = Block<T, kWeightStreams, 1>;
  Correction correction;
  WeightLevel level;
  double low, high, limit;

  // The weight that all tokens of the row share; unused at token level.
  T row(const WeightStreams& streams, int64_t row, int64_t length, Tally& tally) const {
    if (level == WeightLevel::token || length == 0) return T(0);
    double sum = 0;
    streams.template eachBlock<false>(row, [&](const WeightBlock& block) {
      const T *old = block.in[kOldLogProb], *rollout = block.in[kRolloutLogProb];
      alignas(64) double terms[kBlock];
      for (int i = 0; i < block.count; i++) {
        terms[i] = clamped<double>(static_cast<double>(old[i]) - static_cast<double>(rollout[i]), -kLargestLogRatio,
                                   kLargestLogRatio);
      }
      sum += sumOf(terms, block.count);
      return -1;
    });
    const double logWeight = level == WeightLevel::sequenceMean ? sum / static_cast<double>(length) : sum;
    const double log = clamped(logWeight, -limit, limit);
    const double raw = ::exp(log);
    const double weight = correct(raw, low, high);
    tallyUnits(&raw, &weight, 1, low, high, tally.sums);
    tally.sums[kWeightClamped] += log != logWeight;
    return static_cast<T>(weight);
  }

  int block(const WeightBlock& block, T rowWeight, T, Tally& tally) const {
    const int count = block.count;
    const T *old = block.in[kOldLogProb], *rollout = block.in[kRolloutLogProb];
    const T bound = static_cast<T>(limit), lowest = static_cast<T>(low), highest = static_cast<T>(high);
    alignas(64) T raw[kBlock], log[kBlock], ratio[kBlock], k3[kBlock], weight[kBlock];
    int32_t bad = 0, clampedTokens = 0;
    for (int i = 0; i < count; i++) {
      raw[i] = old[i] - rollout[i];
      log[i] = clamped(raw[i], -bound, bound);
      ratio[i] = expOf(log[i]);
      k3[i] = expRest(log[i], ratio[i]);
      bad |= isNaN(raw[i]);
      clampedTokens += log[i] != raw[i];
    }
    if (bad != 0) {
      int at = 0;
      while (!isNaN(raw[at])) at++;
      return at;
    }
    for (int i = 0; i < count; i++) weight[i] = correct(ratio[i], lowest, highest);
    if (level == WeightLevel::token) {
      tallyUnits(ratio, weight, count, lowest, highest, tally.sums);
      tally.sums[kWeightClamped] += clampedTokens;
    } else {
      for (int i = 0; i < count; i++) weight[i] = rowWeight;
    }
    for (int i = 0; i < count; i++) block.out[0][i] = weight[i];
    tally.sums[kWeightOverTokens] += sumOf(weight, count);
    tally.sums[kWeightK1] -= sumOf(log, count);
    tally.sums[kWeightK3] += sumOf(k3, count);
    tally.range(raw, count);
    return -1;
  }

 private:
  template <class W>
  W correct(W raw, W least, W most) const {
    const bool outside = (raw < least) | (most < raw);
    const W inside = clamped(raw, least, most);
    return outside & (correction == Correction::mask) ? W(0) : inside;
  }

  // Units: tokens, or one response.
  template <class W>
  static void tallyUnits(const W* raw, const W* weight, int count, W least, W most, double* sums) {
    int32_t outside = 0;
    for (int i = 0; i < count; i++) outside += (raw[i] < least) | (most < raw[i]);
    sums[kWeightUnits] += count;
    sums[kWeightOutside] += outside;
    sums[kWeightRaw] += sumOf(raw, count);
    sums[kWeightRawSquared] += sumOfSquares(raw, count);
    sums[kWeightCorrected] += sumOf(weight, count);
    sums[kWeightCorrectedSquared] += sumOfSquares(weight, count);
  }
};

}  // namespace

template <class T>
int64_t importanceWeights(const WeightInput<T>& in, T* weights, uint8_t* kept, double* slots) {
  const Streams<T, kWeightStreams, 1> streams{
      in.rows, in.mask, {perToken(in.oldLogProbs), perToken(in.rolloutLogProbs)}, {weights}};
  const WeightKernel<T> kernel{in.correction, in.level, in.low, in.high, in.logRatioClamp};
  const Aggregation plain{AggregationMode::sum, nullptr, 0, nullptr, 1};
  const int64_t status = walk<T>(streams, kernel, plain, slots);
  if (status != kOk) return status;
  const double mean = slots[kTokens] == 0 ? 0 : slots[kTallies + kWeightOverTokens] / slots[kTokens];
  const double divisor = in.normalizer == 0 ? mean : in.normalizer;
  for (int64_t i = 0; i < in.rows.total(); i++) {
    // A rejected weight is exactly 0, and no other is: exp of a clamped log-weight is positive.
    kept[i] = trained(in.mask, i) && (in.correction == Correction::truncate || weights[i] != 0);
    if (weights[i] != 0 && divisor != 1) weights[i] = static_cast<T>(static_cast<double>(weights[i]) / divisor);
  }
  return kOk;
}

template int64_t importanceWeights(const WeightInput<float>&, float*, uint8_t*, double*);
template int64_t importanceWeights(const WeightInput<double>&, double*, uint8_t*, double*);

}  // namespace MINFORM_ISA
}  // namespace minform
