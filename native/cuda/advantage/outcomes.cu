// Advantages of whole responses: leave-one-out, group-relative, pass@k, length-weighted. A thread per group.
#include "groups.h"

namespace minform::cuda {
namespace {

__device__ __forceinline__ double rootOfMean(double squares, int64_t count, int32_t ddof) {
  return sqrt(squares / static_cast<double>(count - ddof));
}

// The deviation of all rewards of the batch but NaN, by one block.
template <class T>
struct BatchDeviation {
  static constexpr int kThreads = 256;
  int64_t rows;
  int32_t ddof;
  Global<const T> rewards;
  Global<Deviation> out;

  template <class Term>
  __device__ double sumOver(const Term& term) const {
    double sum[1] = {};
    for (int64_t row = threadIdx.x; row < rows; row += kThreads) {
      const double reward = rewards[row];
      if (!isNaN(reward)) sum[0] += term(reward);
    }
    blockReduce(sum, Sum());
    return sum[0];
  }

  __device__ void operator()() const {
    double ends[2] = {HUGE_VAL, HUGE_VAL};  // the lowest, and the highest negated
    for (int64_t row = threadIdx.x; row < rows; row += kThreads) {
      const double reward = rewards[row];
      if (isNaN(reward)) continue;
      ends[0] = smaller(ends[0], reward);
      ends[1] = smaller(ends[1], -reward);
    }
    blockReduce(ends, Least());
    const double count = sumOver([](double) { return 1.0; });
    Deviation deviation{0, 0};
    if (count > ddof) {
      const Centre centre(ends[0], -ends[1]);
      const double mean = sumOver([&](double x) { return centre.inside(x); }) / count;
      const double squares = sumOver([&](double x) { return (centre.inside(x) - mean) * (centre.inside(x) - mean); });
      deviation = {rootOfMean(squares, static_cast<int64_t>(count), ddof), centre.exponent};
    }
    if (threadIdx.x == 0) out[0] = deviation;
  }
};

// The responses of a group that take part; all arrays start at the group.
struct Members {
  int64_t count;
  Global<double> y;  // centred rewards
  Global<double> advantages, scratch;
  Global<const int32_t> rows;
  Global<const double> lengths;  // opo, per row of the batch
};

__device__ __forceinline__ double meanOf(const Members& group) {
  double sum = 0;
  for (int64_t i = 0; i < group.count; i++) sum += group.y[i];
  return sum / static_cast<double>(group.count);
}

__device__ __forceinline__ Deviation deviationOf(const Members& group, const Centre& centre, int32_t ddof) {
  if (group.count <= ddof) return {0, 0};
  const double mean = meanOf(group);
  double squares = 0;
  for (int64_t i = 0; i < group.count; i++) squares += (group.y[i] - mean) * (group.y[i] - mean);
  return {rootOfMean(squares, group.count, ddof), centre.exponent};
}

// The best response gets its lead over the second best, the others 0.
__device__ __forceinline__ void bestDifference(const Members& group) {
  int64_t best = 0;
  double second = 0;  // centred rewards start at 0
  for (int64_t i = 1; i < group.count; i++) {
    if (group.y[i] > group.y[best]) best = i;
  }
  for (int64_t i = 0; i < group.count; i++) {
    group.advantages[i] = 0;
    if (i != best) second = larger(second, static_cast<double>(group.y[i]));
  }
  group.advantages[best] = group.y[best] - second;
}

// Differences from the length-weighted mean; false when no response has a token.
__device__ __forceinline__ bool lengthWeightedDifferences(const Members& group) {
  double weighted = 0, weight = 0;
  for (int64_t i = 0; i < group.count; i++) {
    const double length = group.lengths[group.rows[i]];
    weighted += length * group.y[i];
    weight += length;
  }
  for (int64_t i = 0; i < group.count; i++) group.advantages[i] = weight == 0 ? 0 : group.y[i] - weighted / weight;
  return weight > 0;
}

// Whether the responses of the group could be compared.
__device__ __forceinline__ bool differences(OutcomeForm form, const Members& group) {
  if (form == OutcomeForm::opo) return lengthWeightedDifferences(group);
  if (form == OutcomeForm::passK) {
    bestDifference(group);
    return true;
  }
  if (form == OutcomeForm::rloo) leaveOneOut(group.y, nullptr, group.count, group.scratch, nullptr, group.advantages);
  const double mean = form == OutcomeForm::grpo ? meanOf(group) : 0;
  for (int64_t i = 0; i < group.count; i++) {
    group.advantages[i] = group.y[i] - (form == OutcomeForm::rloo ? static_cast<double>(group.advantages[i]) : mean);
  }
  return true;
}

template <class T>
struct Outcomes {
  static constexpr int kThreads = 64;
  static constexpr int kResident = 1;
  OutcomeRule rule;
  GroupView groups;
  Global<const T> rewards;
  Global<const double> lengths;
  Global<const Deviation> batch;  // GroupStd::batch only
  Global<double> y, advantages, scratch;
  Global<int32_t> taking;
  Global<T> out;
  StatCounters stats;
  Global<int64_t> status;

  // A response without siblings, when it keeps its reward: baseline 0 and, where the form divides, deviation 1.
  __device__ double unpaired(double reward, const Deviation& ofBatch) const {
    if (rule.std == GroupStd::none) return reward;
    if (rule.std == GroupStd::batch && ofBatch.value > 0) return standardised(reward, 0, ofBatch, rule.epsilon);
    return reward / (1 + rule.epsilon);
  }

  // The rows that take part, their rewards into y. All others get 0.
  __device__ int64_t collect(int64_t start, int64_t size) const {
    int64_t count = 0;
    for (int64_t i = start; i < start + size; i++) {
      const int32_t row = groups.members[i];
      const double reward = rewards[row];
      out[row] = T(0);
      if (!isFinite(reward) && !(groups.excludeNaN && isNaN(reward))) reportBad(status, row);
      if (isNaN(reward)) continue;
      taking[start + count] = row;
      y[start + count++] = reward;
    }
    stats.exclude(size - count);
    return count;
  }

  __device__ void operator()() const {
    const int64_t group = elementOfThread();
    if (group >= groups.count) return;
    const int64_t start = groups.starts[group], count = collect(start, groups.sizes[group]);
    if (count == 0) return;
    const Members members{count, y + start, advantages + start, scratch + start, taking + start, lengths};
    const Centre centre = centreInPlace(members.y, count);
    Deviation deviation{0, 0};
    if (rule.std == GroupStd::batch) deviation = batch[0];
    if (count == 1 || !differences(rule.form, members)) {
      stats.singleton(members.rows[0]);
      for (int64_t i = 0; i < count && groups.rawSingletons; i++) {
        const int32_t row = members.rows[i];
        out[row] = saturated(unpaired(rewards[row], deviation), T(0));
      }
      return;
    }
    if (centre.flat()) {
      stats.zeroVariance();
      return;
    }
    if (rule.std == GroupStd::group) deviation = deviationOf(members, centre, rule.ddof);
    for (int64_t i = 0; i < count; i++) {
      const double a = members.advantages[i];
      const double scaled =
          rule.std == GroupStd::none ? centre.outside(a) : standardised(a, centre.exponent, deviation, rule.epsilon);
      out[members.rows[i]] = saturated(scaled, T(0));
    }
  }
};

}  // namespace

template <class T>
void advantageOutcomes(const OutcomeRule& rule, const OutcomeInput<T>& in, const Groups& groups, T* out,
                       GroupStats* stats, int64_t* status, Stream stream) {
  resetStatus(status, stream);
  const GroupMembers members(groups, in.rows, stats, stream);
  const Buffer<Deviation> batch(rule.std == GroupStd::batch ? 1 : 0, stream);
  const Buffer<double> y(in.rows, stream), advantages(in.rows, stream), scratch(in.rows, stream);
  const Buffer<int32_t> taking(in.rows, stream);
  if (rule.std == GroupStd::batch) {
    launch(BatchDeviation<T>{in.rows, rule.ddof, in.rewards, batch.get()}, {1, BatchDeviation<T>::kThreads}, stream);
  }
  launch(Outcomes<T>{rule, members.view(), in.rewards, in.lengths, batch.get(), y.get(), advantages.get(),
                     scratch.get(), taking.get(), out, StatCounters(stats), status},
         threadPerElement(groups.count, Outcomes<T>::kThreads), stream);
}

template void advantageOutcomes(const OutcomeRule&, const OutcomeInput<float>&, const Groups&, float*, GroupStats*,
                                int64_t*, Stream);
template void advantageOutcomes(const OutcomeRule&, const OutcomeInput<double>&, const Groups&, double*, GroupStats*,
                                int64_t*, Stream);

}  // namespace minform::cuda
