// Policy-gradient losses: one pass for all objectives, after a pass over the rows for those that need one.
#include "arithmetic/objectives.h"
#include "pass.h"

namespace minform::cuda {
namespace {

struct NoState {};

template <class T>
struct PolicyData {
  Global<const T> logProbs, oldLogProbs, advantages, weights;
  bool advantagePerRow;

  explicit PolicyData(const PolicyInput<T>& in)
      : logProbs(in.logProbs),
        oldLogProbs(in.oldLogProbs),
        advantages(in.advantages),
        weights(in.importanceWeights),
        advantagePerRow(in.advantagePerRow) {}

  __device__ __forceinline__ T advantage(int32_t i, int32_t row) const { return advantages[advantagePerRow ? row : i]; }
  __device__ __forceinline__ T weight(int32_t i) const {
    if (weights == nullptr) return T(1);
    return weights[i];
  }
  __device__ __forceinline__ T oldLogProb(int32_t i) const {
    if (oldLogProbs == nullptr) return T(0);
    return oldLogProbs[i];
  }
};

// RowSums of a row: the log-ratios as loss, advantages and weights as sums.
template <class T, class Objective>
struct RowTerms {
  using Sums = Totals<T, 2, 0>;
  using State = NoState;
  PolicyData<T> data;
  Objective objective;
  T limit;

  __device__ State start(const PlanView&, int32_t, bool, Sums&) const { return {}; }
  __device__ void token(int32_t i, State, int32_t row, T, Sums& totals) const {
    const T advantage = data.advantage(i, row);
    totals.loss += objective.rowTerm(clamped(data.logProbs[i] - data.oldLogProb(i), -limit, limit), advantage);
    totals.sums[0] += advantage;
    totals.sums[1] += data.weight(i);
  }
};

// From the totals of RowTerms to what the objective derives from them. A thread per row.
template <class T, class Objective>
struct FinishRow {
  static constexpr int kThreads = 128;
  static constexpr int kColumns = RowTerms<T, Objective>::Sums::kColumns;
  PlanView plan;
  Objective objective;
  Global<const double> totals;
  Global<RowValue<T>> values;

  __device__ void operator()() const {
    const int64_t row = elementOfThread();
    if (row >= plan.rows.count || plan.isBad() || plan.lengths[row] == 0) return;
    const Global<const double> own = totals + row * kColumns;
    values[row] = objective.finish({own[0], own[3], own[4]}, static_cast<double>(plan.lengths[row]));
  }
};

template <class T, class Objective>
struct PolicyTerms {
  static constexpr int kSums = kPolicyClipped;  // and three counts after them
  using Sums = Totals<T, kSums, kPolicyTallies - kSums>;
  static_assert(kClippedFlag == 1u && kLowerFlag == 1u << 10 * (kPolicyClippedLower - kSums) &&
                    kClampedFlag == 1u << 10 * (kPolicyClamped - kSums),
                "flags are counts");
  using State = RowValue<T>;
  PolicyData<T> data;
  Objective objective;
  T limit;
  Global<const RowValue<T>> rowValues;
  Global<T> gradient;
  Global<int64_t> status;

  __device__ State start(const PlanView&, int32_t row, bool, Sums&) const {
    if (!Objective::kRowPass) return {};
    return rowValues[row];
  }

  __device__ void token(int32_t i, State rowValue, int32_t row, T scale, Sums& totals) const {
    constexpr bool kUsesRatio = Objective::kUsesRatio;
    const T logProb = data.logProbs[i], advantage = data.advantage(i, row), weight = data.weight(i);
    // Without a ratio the log-prob itself stands in, so that a NaN in it is seen.
    const T raw = kUsesRatio ? logProb - data.oldLogProb(i) : logProb;
    const T log = clamped(raw, -limit, limit);
    const T ratio = kUsesRatio ? expOf(log) : T(1);
    if (raw != raw || !isFinite(advantage) || !isFinite(weight)) {
      reportBad(status, i);
      return;
    }
    const Term<T> term =
        objective.token(Objective::kRowRatio ? rowValue.ratio : ratio, log, advantage, logProb, rowValue);
    const T factor = Objective::kRowWeight ? T(1) : weight;
    const bool clamp = kUsesRatio && log != raw;
    const T slope = clamp && !Objective::kDetached ? T(0) : term.slope * factor;
    gradient[i] = scale * slope + T(0);
    totals.loss += term.loss * factor;
    totals.sums[kPolicyLogRatio] += log;
    if (kUsesRatio) {
      const double wide = ratio;
      totals.sums[kPolicyRatio] += wide;
      totals.sums[kPolicyRatioSquared] += wide * wide;
      totals.sums[kPolicyK3] += expRest(log, ratio);
    }
    // The flags lie as the counts do.
    totals.counts += term.flags | (clamp ? kClampedFlag : 0u);
    if (clamp) tallyRaw(raw, totals.sums);
    totals.range(raw);
  }

  // The statistics that the clamp changes.
  __device__ void tallyRaw(T raw, double (&sums)[kSums]) const {
    const double d = raw, c = clamped(d, -static_cast<double>(limit), static_cast<double>(limit));
    sums[kPolicyRawLogRatio] += d - c;
    sums[kPolicyRawRatio] += exp(d) - exp(c);
    sums[kPolicyRawK3] += restBeyond(d, c);
  }
};

template <class T, class Objective>
void run(const PolicyParameters& parameters, const PolicyInput<T>& in, const Plan& plan, T* gradient, double* slots,
         int64_t* status, Stream stream) {
  const PolicyData<T> data(in);
  const Objective objective(parameters);
  // Without a ratio the log-prob is what is limited.
  const T limit = static_cast<T>(Objective::kUsesRatio ? parameters.logRatioClamp : kLargestLogProb);
  const Buffer<RowValue<T>> rowValues(Objective::kRowPass ? in.rows.count : 0, stream);
  if constexpr (Objective::kRowPass) {
    using Finish = FinishRow<T, Objective>;
    const Buffer<double> totals(in.rows.count * Finish::kColumns, stream);
    runPass<T>(plan.view(), RowTerms<T, Objective>{data, objective, limit}, totals.get(), stream);
    launch(Finish{plan.view(), objective, totals.get(), rowValues.get()},
           threadPerElement(in.rows.count, Finish::kThreads), stream);
  }
  runLoss<T>(plan, PolicyTerms<T, Objective>{data, objective, limit, rowValues.get(), gradient, status}, slots, stream);
}

}  // namespace

template <class T>
void lossPolicy(const PolicyParameters& parameters, const PolicyInput<T>& in, int64_t tokens,
                const Aggregation& aggregation, T* gradLogProbs, double* slots, int64_t* status, Stream stream) {
  resetStatus(status, stream);
  const Plan plan(in.rows, tokens, in.mask, aggregation, status, stream);
  clearHidden<T>(in.mask, tokens, gradLogProbs, nullptr, stream);
  switch (parameters.loss) {
    case PolicyLoss::ppo:
      return run<T, Ppo<T>>(parameters, in, plan, gradLogProbs, slots, status, stream);
    case PolicyLoss::gspo:
      return run<T, Gspo<T>>(parameters, in, plan, gradLogProbs, slots, status, stream);
    case PolicyLoss::gmpo:
      return run<T, Gmpo<T>>(parameters, in, plan, gradLogProbs, slots, status, stream);
    case PolicyLoss::cispo:
      return run<T, Cispo<T>>(parameters, in, plan, gradLogProbs, slots, status, stream);
    case PolicyLoss::sapo:
      return run<T, Sapo<T>>(parameters, in, plan, gradLogProbs, slots, status, stream);
    case PolicyLoss::reinforce:
      return run<T, Reinforce<T>>(parameters, in, plan, gradLogProbs, slots, status, stream);
  }
}

template void lossPolicy(const PolicyParameters&, const PolicyInput<float>&, int64_t, const Aggregation&, float*,
                         double*, int64_t*, Stream);
template void lossPolicy(const PolicyParameters&, const PolicyInput<double>&, int64_t, const Aggregation&, double*,
                         double*, int64_t*, Stream);

}  // namespace minform::cuda
