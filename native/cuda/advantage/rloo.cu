// Leave-one-out advantages of tokens. With G_t the reward-to-go and b the baseline that a row gets from its siblings,
// every form is A_t = G_t - b M_t, where M_t counts what the baseline is charged for from token t on: 1 (outcome,
// returns), the steps that end there (step), or the tokens of those steps (token).
//
// A warp per row finds what the row tells its siblings, a thread per group the baselines, a warp per row writes.
#include "groups.h"
#include "walk.h"

namespace minform::cuda {
namespace {

// What a row tells its siblings: the weighted mean of `value` over them is their baseline.
struct Summary {
  double value, weight;
  int32_t excluded;
};

enum class Standing : int32_t { paired, unpaired, excluded };

// How a row stands to its group, and the baseline it got.
struct Stand {
  double baseline;
  Standing standing;
};

// The sum of returns over the counted tokens of a row, from the last return, so that equal returns have exactly that
// mean, in units in which it does not overflow.
struct ReturnSum {
  double unit;
  double last = 0, above = 0;
  int64_t counted = 0;

  __device__ explicit ReturnSum(double unit) : unit(unit) {}
  __device__ __forceinline__ void close(int64_t tokens, double tail) {
    if (counted == 0) last = tail;
    above += static_cast<double>(tokens) * (tail * unit - last * unit);
    counted += tokens;
  }
};

template <class T>
struct Summarise {
  static constexpr int kThreads = kRowWarps * kWarp;
  static constexpr int kResident = 1;
  RowWalk<T> walk;
  BaselineRule rule;
  bool excludeNaN;
  Global<const T> kl;  // checked even where the walk does not use it
  Global<Summary> summaries;
  Global<int64_t> status;

  __device__ void operator()() const {
    const int64_t row = rowOfWarp();
    if (row >= walk.tokens.count) return;
    if (kl != nullptr) reportNonFinite(kl, walk.mask, walk.tokens.begin(row), walk.tokens.end(row), status);
    // What the lane with the row's first token sees.
    double outcome = 0, charged = 0;
    const auto visit = [&](int64_t i, bool, double tail, double charges) {
      if (i != walk.tokens.begin(row)) return;
      outcome = tail;
      charged = charges;
    };
    ReturnSum sum(1);
    const int64_t bad = walk(row, visit, sum);
    // Still not finite afterwards: a bad reward, which is reported.
    if (!isFinite(sum.above)) {
      sum = ReturnSum(0x1p-64);
      walk(row, visit, sum);
    }
    const int64_t length = walk.tokens.end(row) - walk.tokens.begin(row);
    const int first = length == 0 ? 0 : static_cast<int>((length - 1) % kWarp);
    outcome = __shfl_sync(kAllLanes, outcome, first);
    charged = __shfl_sync(kAllLanes, charged, first);
    if (laneIndex() != 0) return;
    Summary summary{0, 0, 0};
    if (bad != INT64_MAX) {
      summary.excluded = 1;
      if (!(excludeNaN && isNaN(walk.rewards[bad]))) reportBad(status, bad);
    } else if (sum.counted > 0) {
      summary = of(sum, outcome, charged);
    }
    summaries[row] = summary;
  }

  __device__ Summary of(const ReturnSum& sum, double outcome, double charged) const {
    const double counted = static_cast<double>(sum.counted), length = larger(counted, rule.minTokens);
    if (rule.baseline == Baseline::returns) return {sum.last + sum.above / counted / sum.unit, counted, 0};
    if (rule.baseline == Baseline::token) return {outcome / length, length, 0};
    if (rule.baseline == Baseline::outcome) return {outcome, 1, 0};
    if (charged == 0) return {0, 0, 0};
    return {outcome / charged, 1, 0};
  }
};

// Every row's baseline from the summaries of its siblings.
struct Baselines {
  static constexpr int kThreads = 64;
  GroupView groups;
  Global<const Summary> summaries;
  Global<double> y, weights, after, weightAfter, means;
  Global<int32_t> taking;
  Global<Stand> stands;
  StatCounters stats;

  __device__ void operator()() const {
    const int64_t group = elementOfThread();
    if (group >= groups.count) return;
    const int64_t start = groups.starts[group], size = groups.sizes[group];
    int64_t count = 0, excluded = 0;
    for (int64_t i = start; i < start + size; i++) {
      const int32_t row = groups.members[i];
      const Summary summary = summaries[row];
      stands[row] = Stand{0, summary.excluded != 0 ? Standing::excluded : Standing::unpaired};
      excluded += summary.excluded;
      if (summary.weight == 0) continue;
      y[start + count] = summary.value;
      weights[start + count] = summary.weight;
      taking[start + count++] = row;
    }
    stats.exclude(excluded);
    if (count == 1) stats.singleton(taking[start]);
    if (count <= 1) return;
    const Centre centre = centreInPlace(y + start, count);
    if (centre.flat()) stats.zeroVariance();
    leaveOneOut(y + start, weights + start, count, after + start, weightAfter + start, means + start);
    for (int64_t i = start; i < start + count; i++) {
      stands[taking[i]] = Stand{centre.lowest + centre.outside(means[i]), Standing::paired};
    }
  }
};

template <class T>
struct Write {
  static constexpr int kThreads = kRowWarps * kWarp;
  static constexpr int kResident = 1;
  RowWalk<T> walk;
  bool rawSingletons;
  Global<const Stand> stands;
  Global<T> advantages, returns;  // returns: or null

  __device__ void put(int64_t i, T advantage, T tail) const {
    advantages[i] = advantage;
    if (returns != nullptr) returns[i] = tail;
  }

  __device__ void operator()() const {
    const int64_t row = rowOfWarp();
    if (row >= walk.tokens.count) return;
    const int64_t begin = walk.tokens.begin(row);
    const Stand stand = stands[row];
    if (stand.standing == Standing::excluded) {
      for (int64_t i = begin + laneIndex(); i < walk.tokens.end(row); i += kWarp) put(i, T(0), T(0));
      return;
    }
    const bool zero = stand.standing == Standing::unpaired && !rawSingletons;
    NoSpans none;
    walk(
        row,
        [&](int64_t i, bool counts, double tail, double charged) {
          if (i < begin) return;
          put(i, counts && !zero ? saturated(tail - stand.baseline * charged, T(0)) : T(0),
              counts ? saturated(tail, T(0)) : T(0));
        },
        none);
  }
};

template <class T>
void leaveOneOutTokens(const BaselineRule& rule, const RowWalk<T>& told, const RowWalk<T>& paid, const T* kl,
                       const Groups& groups, T* advantages, T* returns, GroupStats* stats, int64_t* status,
                       Stream stream) {
  resetStatus(status, stream);
  const int64_t rows = told.tokens.count;
  const GroupMembers members(groups, rows, stats, stream);
  const Buffer<Summary> summaries(rows, stream);
  const Buffer<Stand> stands(rows, stream);
  const Buffer<double> y(rows, stream), weights(rows, stream), after(rows, stream), weightAfter(rows, stream),
      means(rows, stream);
  const Buffer<int32_t> taking(rows, stream);
  launch(Summarise<T>{told, rule, groups.excludeNaN, kl, summaries.get(), status}, warpPerRow(rows), stream);
  launch(Baselines{members.view(), summaries.get(), y.get(), weights.get(), after.get(), weightAfter.get(), means.get(),
                   taking.get(), stands.get(), StatCounters(stats)},
         threadPerElement(groups.count, Baselines::kThreads), stream);
  launch(Write<T>{paid, groups.rawSingletons, stands.get(), advantages, returns}, warpPerRow(rows), stream);
}

}  // namespace

template <class T>
void advantageTokenRloo(const BaselineRule& rule, const TokenRewards<T>& in, const Groups& groups, T* advantages,
                        T* returns, GroupStats* stats, int64_t* status, Stream stream) {
  const bool perStep = rule.baseline == Baseline::step || rule.baseline == Baseline::token;
  const StepKind kind = !perStep ? StepKind::none : in.stepEnds == nullptr ? StepKind::everyToken : StepKind::ends;
  // KL after the baseline is paid by the row alone: it is in the returns, not in what the siblings are told.
  RowWalk<T> told{DeviceRows(in.tokens),
                  DeviceRows(in.steps),
                  in.stepEnds,
                  in.mask,
                  in.rewards,
                  false,
                  in.klAfterBaseline ? nullptr : in.kl,
                  in.klCoefficient,
                  kind,
                  rule.baseline,
                  rule.countSeparators};
  RowWalk<T> paid = told;
  paid.kl = in.kl;
  leaveOneOutTokens<T>(rule, told, paid, in.kl, groups, advantages, returns, stats, status, stream);
}

template <class T>
void advantageStepRloo(const BaselineRule& rule, const StepRewards<T>& in, const Groups& groups, T* advantages,
                       T* returns, GroupStats* stats, int64_t* status, Stream stream) {
  const RowWalk<T> walk{
      DeviceRows(in.tokens), DeviceRows(in.steps), in.stepEnds,         in.mask, in.rewards, true, nullptr, 0,
      StepKind::ends,        rule.baseline,        rule.countSeparators};
  leaveOneOutTokens<T>(rule, walk, walk, nullptr, groups, advantages, returns, stats, status, stream);
}

template void advantageTokenRloo(const BaselineRule&, const TokenRewards<float>&, const Groups&, float*, float*,
                                 GroupStats*, int64_t*, Stream);
template void advantageTokenRloo(const BaselineRule&, const TokenRewards<double>&, const Groups&, double*, double*,
                                 GroupStats*, int64_t*, Stream);
template void advantageStepRloo(const BaselineRule&, const StepRewards<float>&, const Groups&, float*, float*,
                                GroupStats*, int64_t*, Stream);
template void advantageStepRloo(const BaselineRule&, const StepRewards<double>&, const Groups&, double*, double*,
                                GroupStats*, int64_t*, Stream);

}  // namespace minform::cuda
