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

  // The weight of a unit (a token, or a response) after the correction; counts the unit.
  double correct(double logWeight, Tally& tally) const {
    const double log = clamped(logWeight, -limit, limit);
    const double raw = ::exp(log);
    const bool outside = raw < low || high < raw;
    const double weight = !outside ? raw : (correction == Correction::mask ? 0 : clamped(raw, low, high));
    double* sums = tally.sums;
    sums[kWeightUnits] += 1;
    sums[kWeightRaw] += raw;
    sums[kWeightRawSquared] += raw * raw;
    sums[kWeightCorrected] += weight;
    sums[kWeightCorrectedSquared] += weight * weight;
    sums[kWeightOutside] += outside;
    sums[kWeightClamped] += log != logWeight;
    return weight;
  }

  // The weight that all tokens of the row share; unused at token level.
  double row(const WeightStreams& streams, int64_t row, int64_t length, Tally& tally) const {
    if (level == WeightLevel::token || length == 0) return 0;
    double sum = 0;
    streams.template eachBlock<false>(row, [&](const WeightBlock& block) {
      for (int i = 0; i < block.count; i++) {
        sum += clamped(logRatio(block, i), -kLargestLogRatio, kLargestLogRatio);
      }
      return -1;
    });
    return correct(level == WeightLevel::sequenceMean ? sum / static_cast<double>(length) : sum, tally);
  }

  int block(const WeightBlock& block, double rowWeight, T, Tally& tally) const {
    for (int i = 0; i < block.count; i++) {
      const double d = logRatio(block, i);
      if (isNaN(d)) return i;
      const double weight = level == WeightLevel::token ? correct(d, tally) : rowWeight;
      const double log = clamped(d, -limit, limit);
      block.out[0][i] = static_cast<T>(weight);
      tally.sums[kWeightOverTokens] += weight;
      tally.sums[kWeightK1] -= log;
      tally.sums[kWeightK3] += expRest(log, 0.0);
      tally.highest = larger(tally.highest, d);
      tally.lowest = smaller(tally.lowest, d);
    }
    return -1;
  }

 private:
  static double logRatio(const WeightBlock& block, int i) {
    return static_cast<double>(block.in[kOldLogProb][i]) - static_cast<double>(block.in[kRolloutLogProb][i]);
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
