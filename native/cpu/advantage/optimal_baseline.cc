// Optimal token baseline: B_t = sum_j W_jt G_jt / sum_j W_jt over the responses of a group that have a t-th counted
// token, W = cumsum(1 - 2 pi + sum pi^2), the squared norm of the score of the logits so far.
#include "groups.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

// Mean returns at one position, weighted and plain. Updated so that equal returns give exactly that return.
struct Position {
  double weighted, weight, plain, count;

  void add(double value, double w) {
    count += 1;
    plain += finite(value - plain) * (1 / count);
    if (w == 0) return;
    weight += w;
    weighted += finite(value - weighted) * (w / weight);
  }
  // Without any weight no logit can move, and the plain mean stands in.
  double baseline() const { return weight > 0 ? weighted : plain; }
};

// Calls visit(token, place among the counted tokens) in order.
template <class Visit>
void forCounted(const Rows& tokens, int64_t row, const uint8_t* mask, const Visit& visit) {
  int64_t place = 0;
  for (int64_t i = tokens.begin(row); i < tokens.end(row); i++) {
    if (trained(mask, i)) visit(i, place++);
  }
}

template <class T>
void returnsOf(const OptimalBaselineInput<T>& in, int64_t row, double* returns) {
  double tail = 0;
  for (int64_t i = in.tokens.end(row) - 1; i >= in.tokens.begin(row); i--) {
    if (!trained(in.mask, i)) continue;
    tail = finite(in.rewards[i] + in.gamma * tail);
    returns[i] = tail;
  }
}

// The return of the row's first counted token.
template <class T>
double outcomeOf(const OptimalBaselineInput<T>& in, int64_t row, const double* returns) {
  int64_t first = in.tokens.begin(row);
  while (!trained(in.mask, first)) first++;
  return returns[first];
}

template <class T>
int64_t checkRow(const OptimalBaselineInput<T>& in, int64_t row) {
  const int64_t begin = in.tokens.begin(row), end = in.tokens.end(row);
  for (int64_t i = begin; i < end; i++) {
    // A log-prob may be -Infinity: its probability is 0.
    if (trained(in.mask, i) && !(isFinite(in.rewards[i]) && isFinite(in.sumSquaredProbs[i]) && in.logProbs[i] <= 1))
      return i;
  }
  return kOk;
}

template <class T>
void gather(const OptimalBaselineInput<T>& in, int64_t row, const double* toGo, Position* positions) {
  double weight = 0;
  forCounted(in.tokens, row, in.mask, [&](int64_t token, int64_t place) {
    const double p = ::exp(static_cast<double>(in.logProbs[token]));
    weight += larger(0.0, 1 - 2 * p + in.sumSquaredProbs[token]);
    positions[place].add(toGo[token], weight);
  });
}

template <class T>
void writeRow(const OptimalBaselineInput<T>& in, int64_t row, const double* toGo, const Position* positions, bool zero,
              T* advantages, T* returns) {
  for (int64_t i = in.tokens.begin(row); i < in.tokens.end(row); i++) advantages[i] = returns[i] = T(0);
  forCounted(in.tokens, row, in.mask, [&](int64_t token, int64_t place) {
    const double baseline = positions == nullptr ? 0 : positions[place].baseline();
    advantages[token] = zero ? T(0) : saturated(toGo[token] - baseline, T(0));
    returns[token] = saturated(toGo[token], T(0));
  });
}

}  // namespace

template <class T>
int64_t optimalBaseline(const OptimalBaselineInput<T>& in, const Groups& groups, T* advantages, T* returns,
                        GroupStats* stats) {
  const int64_t rows = in.tokens.count;
  Scratch<int64_t> status(rows), counted(rows);
  Scratch<double> toGo(in.tokens.total());
  Scratch<uint8_t> excluded(rows);
  parallelRows(in.tokens, 1 << 14, [&](int64_t row) {
    status[row] = checkRow(in, row);
    excluded[row] = status[row] != kOk && groups.excludeNaN && isNaN(in.rewards[status[row]]);
    counted[row] = excluded[row] ? 0 : countTokens(in.mask, in.tokens.begin(row), in.tokens.end(row) - 1);
    if (excluded[row]) {
      status[row] = kOk;
      for (int64_t i = in.tokens.begin(row); i < in.tokens.end(row); i++) advantages[i] = returns[i] = T(0);
    } else if (status[row] == kOk) {
      returnsOf(in, row, toGo.get());
    }
  });
  const int64_t bad = firstBad(status.get(), rows);
  if (bad != kOk) return bad;

  GroupMembers members(groups, rows);
  Scratch<GroupStats> parts(groups.count);
  parallel(groups.count, [&](int64_t g) {
    GroupStats own;
    int64_t longest = 0, taking = 0, first = -1;
    double lowest = 0, highest = 0;
    for (int64_t place = members.begin(g); place < members.end(g); place++) {
      const int64_t row = members.row(place);
      own.excluded += excluded[row];
      if (counted[row] == 0) continue;
      const double outcome = outcomeOf(in, row, toGo.get());
      lowest = taking == 0 ? outcome : smaller(lowest, outcome);
      highest = taking == 0 ? outcome : larger(highest, outcome);
      if (taking++ == 0) first = row;
      longest = larger(longest, counted[row]);
    }
    if (taking == 1) countSingleton(&own, first);
    own.zeroVariance = taking > 1 && lowest == highest;
    Scratch<Position> positions(longest);
    for (int64_t i = 0; i < longest; i++) positions[i] = {};
    for (int64_t place = members.begin(g); place < members.end(g); place++) {
      if (counted[members.row(place)] > 0) gather(in, members.row(place), toGo.get(), positions.get());
    }
    for (int64_t place = members.begin(g); place < members.end(g); place++) {
      const int64_t row = members.row(place);
      if (excluded[row]) continue;
      const bool alone = taking == 1;
      writeRow(in, row, toGo.get(), alone ? nullptr : positions.get(), alone && !groups.rawSingletons, advantages,
               returns);
    }
    parts[g] = own;
  });
  stats->groups = groups.count;
  for (int64_t g = 0; g < groups.count; g++) {
    stats->singletons += parts[g].singletons;
    stats->zeroVariance += parts[g].zeroVariance;
    stats->excluded += parts[g].excluded;
    const int64_t row = parts[g].firstSingleton;
    if (row >= 0 && (stats->firstSingleton < 0 || row < stats->firstSingleton)) stats->firstSingleton = row;
  }
  return kOk;
}

template int64_t optimalBaseline(const OptimalBaselineInput<float>&, const Groups&, float*, float*, GroupStats*);
template int64_t optimalBaseline(const OptimalBaselineInput<double>&, const Groups&, double*, double*, GroupStats*);

}  // namespace MINFORM_ISA
}  // namespace minform
