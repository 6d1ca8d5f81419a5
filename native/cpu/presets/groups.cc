// Scores relative to their group. Sums stay in T on purpose: eight float32 rewards of 0.2 have a mean that is not 0.2.
#include "padded.h"

namespace minform {
namespace MINFORM_ISA {
namespace peers {
namespace {

// Rows sorted by group, in row order inside a group.
struct GroupLists {
  Scratch<int32_t> starts, members;

  explicit GroupLists(const PeerGroupShape& groups) : starts(groups.groups + 1), members(groups.rows) {
    for (int64_t g = 0; g <= groups.groups; g++) starts[g] = 0;
    for (int64_t row = 0; row < groups.rows; row++) starts[groups.group[row] + 1]++;
    for (int64_t g = 0; g < groups.groups; g++) starts[g + 1] += starts[g];
    Scratch<int32_t> next(groups.groups);
    for (int64_t g = 0; g < groups.groups; g++) next[g] = starts[g];
    for (int64_t row = 0; row < groups.rows; row++) members[next[groups.group[row]]++] = static_cast<int32_t>(row);
  }
};

// Scores of one group, or of the batch with members null.
template <class T>
struct Scores {
  const T* scores;
  const int32_t* members;
  int64_t count;

  T at(int64_t k) const { return members == nullptr ? scores[k] : scores[members[k]]; }
  T mean() const {
    T sum = 0;
    for (int64_t k = 0; k < count; k++) sum += at(k);
    return sum / static_cast<T>(count);
  }
  // ddof 1; NaN for a single score.
  T deviation() const {
    const T centre = mean();
    double squares = 0;
    for (int64_t k = 0; k < count; k++) {
      const double difference = at(k) - centre;
      squares += difference * difference;
    }
    return static_cast<T>(::sqrt(squares / static_cast<double>(count - 1)));
  }
};

// NaN counts as the largest, as in torch.topk.
inline bool above(double a, double b) { return a != a ? b == b : a > b; }

template <class T>
void passK(const Scores<T>& group, double divisor, double factor, T* out) {
  if (group.count < 2) {  // lib/ refuses such a group, as the peer does
    for (int64_t k = 0; k < group.count; k++) out[group.members[k]] = T(0);
    return;
  }
  int64_t best = 0;
  for (int64_t k = 1; k < group.count; k++) {
    if (above(group.at(k), group.at(best))) best = k;
  }
  int64_t second = best == 0 ? 1 : 0;
  for (int64_t k = 0; k < group.count; k++) {
    out[group.members[k]] = T(0);
    if (k != best && above(group.at(k), group.at(second))) second = k;
  }
  out[group.members[best]] = static_cast<T>(factor * (group.at(best) - group.at(second)) / divisor);
}

}  // namespace

template <class T>
void groupScores(const PeerGroupShape& groups, const PeerGroupRule& rule, const T* scores, T* out) {
  GroupLists lists(groups);
  const bool scaled = rule.form == PeerGroupForm::scale || (rule.form == PeerGroupForm::passK && rule.epsilon >= 0);
  const T batchDeviation = rule.batchStd != 0 ? Scores<T>{scores, nullptr, groups.rows}.deviation() : T(0);
  for (int64_t g = 0; g < groups.groups; g++) {
    const Scores<T> group{scores, lists.members.get() + lists.starts[g], lists.starts[g + 1] - lists.starts[g]};
    const bool alone = group.count == 1 && rule.singleton != PeerSingletonForm::same;
    const T mean = alone ? T(0) : group.mean();
    const double deviation = rule.batchStd != 0 ? batchDeviation : (alone ? T(1) : group.deviation());
    const double divisor = scaled ? deviation + rule.epsilon : 1.0;
    if (rule.form == PeerGroupForm::passK) {
      passK(group, divisor, rule.factor, out);
      continue;
    }
    const double n = static_cast<double>(group.count);
    for (int64_t k = 0; k < group.count; k++) {
      double value = 0;
      if (alone) {
        value = rule.singleton == PeerSingletonForm::zero ? 0 : group.at(k) / divisor;
      } else if (rule.form == PeerGroupForm::leaveOneOut) {
        value = group.at(k) * n / (n - 1) - mean * n / (n - 1);
      } else {
        value = static_cast<double>(static_cast<T>(group.at(k) - mean)) / divisor;
      }
      out[group.members[k]] = static_cast<T>(rule.factor * value);
    }
  }
}

template <class T>
void othersRatio(const PeerGroupShape& groups, const T* a, const T* b, T* out) {
  Scratch<T> sumA(groups.groups), sumB(groups.groups);
  for (int64_t g = 0; g < groups.groups; g++) sumA[g] = sumB[g] = T(0);
  for (int64_t row = 0; row < groups.rows; row++) {
    sumA[groups.group[row]] += a[row];
    sumB[groups.group[row]] += b == nullptr ? T(1) : b[row];
  }
  for (int64_t row = 0; row < groups.rows; row++) {
    const int32_t g = groups.group[row];
    out[row] = (sumA[g] - a[row]) / (sumB[g] - (b == nullptr ? T(1) : b[row]));
  }
}

template <class T>
void weightedMeans(const PeerGroupShape& groups, const T* scores, const T* weights, T* out) {
  Scratch<T> products(groups.groups), total(groups.groups);
  Scratch<int32_t> members(groups.groups);
  for (int64_t g = 0; g < groups.groups; g++) {
    products[g] = total[g] = T(0);
    members[g] = 0;
  }
  for (int64_t row = 0; row < groups.rows; row++) {
    const int32_t g = groups.group[row];
    products[g] += weights[row] * scores[row];
    total[g] += weights[row];
    members[g]++;
  }
  for (int64_t row = 0; row < groups.rows; row++) {
    const int32_t g = groups.group[row];
    out[row] = members[g] == 1 ? T(0) : products[g] / total[g];
  }
}

#define MINFORM_INSTANTIATE(T)                                                          \
  template void groupScores(const PeerGroupShape&, const PeerGroupRule&, const T*, T*); \
  template void othersRatio(const PeerGroupShape&, const T*, const T*, T*);             \
  template void weightedMeans(const PeerGroupShape&, const T*, const T*, T*);
MINFORM_INSTANTIATE(float)
MINFORM_INSTANTIATE(double)

}  // namespace peers
}  // namespace MINFORM_ISA
}  // namespace minform
