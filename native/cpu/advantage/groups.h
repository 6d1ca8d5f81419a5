// The rows of each group, and means over a group that neither cancel nor overflow.
#pragma once

#include "arithmetic/centre.h"
#include "family.h"

namespace minform {
namespace MINFORM_ISA {

// Rows sorted by group (stable): those of group g are row(begin(g)) .. row(end(g) - 1).
class GroupMembers {
 public:
  GroupMembers(const Groups& groups, int64_t rows) : starts_(groups.count + 1), rows_(rows) {
    for (int64_t g = 0; g <= groups.count; g++) starts_[g] = 0;
    for (int64_t i = 0; i < rows; i++) starts_[groups.index[i] + 1]++;
    for (int64_t g = 0; g < groups.count; g++) starts_[g + 1] += starts_[g];
    Scratch<int64_t> next(groups.count);
    for (int64_t g = 0; g < groups.count; g++) next[g] = starts_[g];
    for (int64_t i = 0; i < rows; i++) rows_[next[groups.index[i]]++] = i;
  }
  int64_t begin(int64_t group) { return starts_[group]; }
  int64_t end(int64_t group) { return starts_[group + 1]; }
  int64_t row(int64_t place) { return rows_[place]; }

 private:
  Scratch<int64_t> starts_, rows_;
};

// Of values[0 .. count), count > 0.
inline Centre centreOf(const double* values, int64_t count) {
  double low = values[0], high = low;
  for (int64_t i = 1; i < count; i++) {
    low = smaller(low, values[i]);
    high = larger(high, values[i]);
  }
  return {low, high};
}

// means[i] = sum_{j != i} w_j y_j / sum_{j != i} w_j from the sums before and after i, never by subtraction. Where the
// others weigh nothing, alone[i] is set and means[i] is 0.
inline void leaveOneOut(const double* y, const double* w, int64_t count, double* means, uint8_t* alone) {
  Scratch<double> after(count + 1), weightAfter(count + 1);
  after[count] = weightAfter[count] = 0;
  for (int64_t i = count - 1; i >= 0; i--) {
    after[i] = after[i + 1] + w[i] * y[i];
    weightAfter[i] = weightAfter[i + 1] + w[i];
  }
  double before = 0, weightBefore = 0;
  for (int64_t i = 0; i < count; i++) {
    const double weight = weightBefore + weightAfter[i + 1];
    alone[i] = weight == 0;
    means[i] = weight == 0 ? 0 : (before + after[i + 1]) / weight;
    before += w[i] * y[i];
    weightBefore += w[i];
  }
}

inline void countSingleton(GroupStats* stats, int64_t row) {
  stats->singletons++;
  if (stats->firstSingleton < 0 || row < stats->firstSingleton) stats->firstSingleton = row;
}

}  // namespace MINFORM_ISA
}  // namespace minform
