// Policy-gradient losses: one block loop for all objectives.
#include "arithmetic/objectives.h"
#include "walk.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

enum PolicyStream { kLogProb, kOldLogProb, kAdvantage, kWeight, kPolicyStreams };

// The statistics that the clamp changes: only clamped tokens matter, and they are rare.
template <class T>
void tallyRaw(const T* raw, T limit, int count, double* sums) {
  for (int i = 0; i < count; i++) {
    const double d = static_cast<double>(raw[i]);
    const double c = clamped(d, -static_cast<double>(limit), static_cast<double>(limit));
    if (c == d) continue;
    sums[kPolicyRawLogRatio] += d - c;
    sums[kPolicyRawRatio] += ::exp(d) - ::exp(c);
    sums[kPolicyRawK3] += restBeyond(d, c);
  }
}

template <class T, class Objective>
struct PolicyKernel {
  using PolicyStreams = Streams<T, kPolicyStreams, 1>;
  using PolicyBlock = Block<T, kPolicyStreams, 1>;
  Objective objective;
  T limit;

  RowValue<T> row(const PolicyStreams& streams, int64_t row, int64_t length, Tally&) const {
    if constexpr (Objective::kRowPass) {
      RowSums sums{};
      streams.template eachBlock<false>(row, [&](const PolicyBlock& block) {
        alignas(64) T terms[kBlock];
        const T *logProb = block.in[kLogProb], *old = block.in[kOldLogProb], *advantage = block.in[kAdvantage];
        for (int i = 0; i < block.count; i++) {
          terms[i] = objective.rowTerm(clamped(logProb[i] - old[i], -limit, limit), advantage[i]);
        }
        sums.logRatio += sumOf(terms, block.count);
        sums.advantage += sumOf(advantage, block.count);
        sums.weight += sumOf(block.in[kWeight], block.count);
        return -1;
      });
      return length == 0 ? RowValue<T>{} : objective.finish(sums, static_cast<double>(length));
    } else {
      (void)streams, (void)row, (void)length;
      return {};
    }
  }

  int block(const PolicyBlock& block, RowValue<T> row, T scale, Tally& tally) const {
    const int count = block.count;
    const T *logProb = block.in[kLogProb], *old = block.in[kOldLogProb];
    const T *advantage = block.in[kAdvantage], *weight = block.in[kWeight];
    alignas(64) T raw[kBlock], log[kBlock], ratio[kBlock], k3[kBlock], loss[kBlock], slope[kBlock];
    alignas(64) uint32_t flags[kBlock];
    for (int i = 0; i < count; i++) {
      // Without a ratio the log-prob itself stands in, so that a NaN in it is seen.
      raw[i] = Objective::kUsesRatio ? logProb[i] - old[i] : logProb[i];
      log[i] = clamped(raw[i], -limit, limit);
      ratio[i] = Objective::kUsesRatio ? expOf(log[i]) : T(1);
      k3[i] = Objective::kUsesRatio ? expRest(log[i], ratio[i]) : T(0);
    }
    alignas(64) T rowRatio[kBlock];
    for (int i = 0; Objective::kRowRatio && i < count; i++) rowRatio[i] = row.ratio;
    const T* used = Objective::kRowRatio ? rowRatio : ratio;
    for (int i = 0; i < count; i++) {
      const Term<T> term = objective.token(used[i], log[i], advantage[i], logProb[i], row);
      const T factor = Objective::kRowWeight ? T(1) : weight[i];
      const bool clamp = Objective::kUsesRatio & (log[i] != raw[i]);
      const bool bad = isNaN(raw[i]) | !isFinite(advantage[i]) | !isFinite(weight[i]);
      loss[i] = term.loss * factor;
      slope[i] = clamp & !Objective::kDetached ? T(0) : term.slope * factor;
      flags[i] = (term.flags | (clamp ? kClampedFlag : 0u)) | (bad ? kBadFlag : 0u);
    }
    uint32_t flagSum = 0, flagUnion = 0;
    for (int i = 0; i < count; i++) {
      flagSum += flags[i];
      flagUnion |= flags[i];
    }
    if ((flagUnion & kBadFlag) != 0) {
      int bad = 0;
      while ((flags[bad] & kBadFlag) == 0) bad++;
      return bad;
    }
    T* out = block.out[0];
    for (int i = 0; i < count; i++) out[i] = scale * slope[i] + T(0);
    double* sums = tally.sums;
    tally.loss += sumOf(loss, count);
    sums[kPolicyLogRatio] += sumOf(log, count);
    if (Objective::kUsesRatio) {
      sums[kPolicyRatio] += sumOf(ratio, count);
      sums[kPolicyRatioSquared] += sumOfSquares(ratio, count);
      sums[kPolicyK3] += sumOf(k3, count);
    }
    const uint32_t clampedTokens = flagSum / kClampedFlag % 1024;
    sums[kPolicyClipped] += flagSum % 1024;
    sums[kPolicyClippedLower] += flagSum / kLowerFlag % 1024;
    sums[kPolicyClamped] += clampedTokens;
    if (clampedTokens > 0 && Objective::kUsesRatio) tallyRaw(raw, limit, count, sums);
    tally.range(raw, count);
    return -1;
  }
};

template <class T, class Objective>
int64_t run(const PolicyParameters& parameters, const PolicyInput<T>& in, const Aggregation& aggregation,
            T* gradLogProbs, double* slots) {
  const Streams<T, kPolicyStreams, 1> streams{
      in.rows,
      in.mask,
      {perToken(in.logProbs), perTokenOr(in.oldLogProbs, T(0)), Stream<T>{in.advantages, in.advantagePerRow, T(0)},
       perTokenOr(in.importanceWeights, T(1))},
      {gradLogProbs}};
  // Without a ratio the log-prob is what is limited.
  const double limit = Objective::kUsesRatio ? parameters.logRatioClamp : kLargestLogProb;
  const PolicyKernel<T, Objective> kernel{Objective(parameters), static_cast<T>(limit)};
  return walk<T>(streams, kernel, aggregation, slots);
}

}  // namespace

template <class T>
int64_t policy(const PolicyParameters& parameters, const PolicyInput<T>& in, const Aggregation& aggregation,
               T* gradLogProbs, double* slots) {
  switch (parameters.loss) {
    case PolicyLoss::ppo:
      return run<T, Ppo<T>>(parameters, in, aggregation, gradLogProbs, slots);
    case PolicyLoss::gspo:
      return run<T, Gspo<T>>(parameters, in, aggregation, gradLogProbs, slots);
    case PolicyLoss::gmpo:
      return run<T, Gmpo<T>>(parameters, in, aggregation, gradLogProbs, slots);
    case PolicyLoss::cispo:
      return run<T, Cispo<T>>(parameters, in, aggregation, gradLogProbs, slots);
    case PolicyLoss::sapo:
      return run<T, Sapo<T>>(parameters, in, aggregation, gradLogProbs, slots);
    case PolicyLoss::reinforce:
      return run<T, Reinforce<T>>(parameters, in, aggregation, gradLogProbs, slots);
  }
  return kOk;
}

template int64_t policy(const PolicyParameters&, const PolicyInput<float>&, const Aggregation&, float*, double*);
template int64_t policy(const PolicyParameters&, const PolicyInput<double>&, const Aggregation&, double*, double*);

}  // namespace MINFORM_ISA
}  // namespace minform
