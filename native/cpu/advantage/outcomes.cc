// Advantages of whole responses: leave-one-out, group-relative, pass@k, length-weighted.
#include "groups.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

// The responses of one group that take part, and the advantage of each.
struct Members {
  Centre centre;
  const double* y;        // centred rewards
  const double* lengths;  // opo only
  int64_t count;
  double* advantages;
};

double meanOf(const double* y, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; i++) sum += y[i];
  return sum / static_cast<double>(count);
}

Deviation deviation(const Centre& centre, const double* y, int64_t count, int32_t ddof) {
  if (count <= ddof) return {0, 0};
  const double mean = meanOf(y, count);
  double squares = 0;
  for (int64_t i = 0; i < count; i++) squares += (y[i] - mean) * (y[i] - mean);
  return {::sqrt(squares / static_cast<double>(count - ddof)), centre.exponent};
}

// From differences of centred rewards to advantages.
void scale(const OutcomeRule& rule, const Members& group, const Deviation& batch) {
  double* a = group.advantages;
  if (rule.std == GroupStd::none) {
    for (int64_t i = 0; i < group.count; i++) a[i] = group.centre.outside(a[i]);
    return;
  }
  const Deviation std = rule.std == GroupStd::batch ? batch : deviation(group.centre, group.y, group.count, rule.ddof);
  for (int64_t i = 0; i < group.count; i++) a[i] = standardised(a[i], group.centre.exponent, std, rule.epsilon);
}

void leaveOneOutDifferences(const Members& group) {
  Scratch<double> weights(group.count), others(group.count);
  Scratch<uint8_t> alone(group.count);
  for (int64_t i = 0; i < group.count; i++) weights[i] = 1;
  leaveOneOut(group.y, weights.get(), group.count, others.get(), alone.get());
  for (int64_t i = 0; i < group.count; i++) group.advantages[i] = group.y[i] - others[i];
}

void meanDifferences(const Members& group) {
  const double mean = meanOf(group.y, group.count);
  for (int64_t i = 0; i < group.count; i++) group.advantages[i] = group.y[i] - mean;
}

// The best response gets its lead over the second best, the others 0.
void bestDifference(const Members& group) {
  int64_t best = 0;
  double second = 0;  // centred rewards start at 0
  for (int64_t i = 1; i < group.count; i++) {
    if (group.y[i] > group.y[best]) best = i;
  }
  for (int64_t i = 0; i < group.count; i++) {
    group.advantages[i] = 0;
    if (i != best) second = larger(second, group.y[i]);
  }
  group.advantages[best] = group.y[best] - second;
}

// Differences from the length-weighted mean; false when no response has a token.
bool lengthWeightedDifferences(const Members& group) {
  double weighted = 0, weight = 0;
  for (int64_t i = 0; i < group.count; i++) {
    weighted += group.lengths[i] * group.y[i];
    weight += group.lengths[i];
  }
  for (int64_t i = 0; i < group.count; i++) group.advantages[i] = weight == 0 ? 0 : group.y[i] - weighted / weight;
  return weight > 0;
}

// Whether the responses of the group could be compared.
bool differences(OutcomeForm form, const Members& group) {
  switch (form) {
    case OutcomeForm::rloo:
      leaveOneOutDifferences(group);
      return true;
    case OutcomeForm::grpo:
      meanDifferences(group);
      return true;
    case OutcomeForm::passK:
      bestDifference(group);
      return true;
    case OutcomeForm::opo:
      return lengthWeightedDifferences(group);
  }
  return false;
}

// A response without siblings, when it keeps its reward: baseline 0 and, where the form divides, deviation 1.
double unpaired(const OutcomeRule& rule, double reward, const Deviation& batch) {
  if (rule.std == GroupStd::none) return reward;
  if (rule.std == GroupStd::batch && batch.value > 0) return standardised(reward, 0, batch, rule.epsilon);
  return reward / (1 + rule.epsilon);
}

// NaN or infinite rewards, except the NaN that only takes its row out.
template <class T>
int64_t firstUnusable(const OutcomeInput<T>& in, const Groups& groups) {
  for (int64_t i = 0; i < in.rows; i++) {
    if (!isFinite(in.rewards[i]) && !(groups.excludeNaN && isNaN(in.rewards[i]))) return i;
  }
  return kOk;
}

template <class T>
Deviation batchDeviation(const OutcomeRule& rule, const OutcomeInput<T>& in, double* scratch) {
  int64_t count = 0;
  for (int64_t i = 0; i < in.rows; i++) {
    if (!isNaN(in.rewards[i])) scratch[count++] = in.rewards[i];
  }
  if (count == 0) return {};
  const Centre centre = centreOf(scratch, count);
  for (int64_t i = 0; i < count; i++) scratch[i] = centre.inside(scratch[i]);
  return deviation(centre, scratch, count, rule.ddof);
}

}  // namespace

template <class T>
int64_t outcomes(const OutcomeRule& rule, const OutcomeInput<T>& in, const Groups& groups, T* out, GroupStats* stats) {
  const int64_t bad = firstUnusable(in, groups);
  if (bad != kOk) return bad;
  GroupMembers members(groups, in.rows);
  Scratch<double> y(in.rows), lengths(in.rows), advantages(in.rows);
  Scratch<int64_t> rows(in.rows);
  const Deviation batch = rule.std == GroupStd::batch ? batchDeviation(rule, in, y.get()) : Deviation{};
  stats->groups = groups.count;
  for (int64_t g = 0; g < groups.count; g++) {
    int64_t count = 0;
    for (int64_t place = members.begin(g); place < members.end(g); place++) {
      const int64_t row = members.row(place);
      out[row] = T(0);
      if (isNaN(in.rewards[row])) {
        stats->excluded++;
        continue;
      }
      rows[count] = row;
      y[count] = in.rewards[row];
      if (in.lengths != nullptr) lengths[count] = in.lengths[row];
      count++;
    }
    if (count == 0) continue;
    const Centre centre = centreOf(y.get(), count);
    const Members group{centre, y.get(), lengths.get(), count, advantages.get()};
    for (int64_t i = 0; i < count; i++) y[i] = centre.inside(y[i]);
    if (count == 1 || !differences(rule.form, group)) {
      countSingleton(stats, rows[0]);
      if (!groups.rawSingletons) continue;
      for (int64_t i = 0; i < count; i++) out[rows[i]] = saturated(unpaired(rule, in.rewards[rows[i]], batch), T(0));
      continue;
    }
    if (centre.flat()) {
      stats->zeroVariance++;
      continue;
    }
    scale(rule, group, batch);
    for (int64_t i = 0; i < count; i++) out[rows[i]] = saturated(advantages[i], T(0));
  }
  return kOk;
}

template int64_t outcomes(const OutcomeRule&, const OutcomeInput<float>&, const Groups&, float*, GroupStats*);
template int64_t outcomes(const OutcomeRule&, const OutcomeInput<double>&, const Groups&, double*, GroupStats*);

}  // namespace MINFORM_ISA
}  // namespace minform
