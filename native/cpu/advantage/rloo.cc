// Leave-one-out advantages of tokens. With G_t the reward-to-go and b the baseline that a row gets from its siblings,
// every form is A_t = G_t - b M_t, where M_t counts what the baseline is charged for from token t on: 1 (outcome,
// returns), the steps that end there (step), or the tokens of those steps (token).
#include "groups.h"
#include "walk.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

// What a row tells its siblings: the weighted mean of `value` over them is their baseline.
struct Summary {
  double value = 0, weight = 0;
  int64_t bad = kOk;
  bool badIsNaN = false;
};

enum class Standing : uint8_t { paired, unpaired, excluded };

// One row: walk(visit) visits its spans. Returns are summed from the last one, so that equal returns have exactly that
// mean; where their sum overflows it is taken again in smaller units.
template <class Mask, class Walk>
Summary summarise(const BaselineRule& rule, const Mask& mask, const Walk& walk) {
  double outcome = 0, last = 0, above = 0, charged = 0, unit = 1;
  int64_t tokens = 0;
  for (;;) {
    double sum = 0;
    int64_t counted = 0;
    walk([&](int64_t first, int64_t end, double tail, double charges) {
      const int64_t span = mask.count(first, end);
      if (counted == 0) last = tail;
      sum += static_cast<double>(span) * (tail * unit - last * unit);
      counted += span;
      outcome = tail;
      charged = charges;
    });
    above = sum;
    tokens = counted;
    if (isFinite(sum) || unit != 1) break;  // still not finite: a NaN reward, which the caller sees
    unit = 0x1p-64;
  }
  const double counted = static_cast<double>(tokens);
  const double length = larger(counted, rule.minTokens);
  if (tokens == 0) return {};
  switch (rule.baseline) {
    case Baseline::outcome:
      return {outcome, 1};
    case Baseline::returns:
      return {last + above / counted / unit, counted};
    case Baseline::step:
      return charged == 0 ? Summary{} : Summary{outcome / charged, 1};
    case Baseline::token:
      return {outcome / length, length};
  }
  return {};
}

// Every row's baseline from the summaries of its siblings.
void baselines(Summary* summaries, int64_t rows, const Groups& groups, double* baseline, Standing* standing,
               GroupStats* stats) {
  GroupMembers members(groups, rows);
  Scratch<double> y(rows), weights(rows), means(rows);
  Scratch<uint8_t> alone(rows);
  Scratch<int64_t> taking(rows);
  stats->groups = groups.count;
  for (int64_t g = 0; g < groups.count; g++) {
    int64_t count = 0;
    for (int64_t place = members.begin(g); place < members.end(g); place++) {
      const int64_t row = members.row(place);
      const Summary& summary = summaries[row];
      baseline[row] = 0;
      standing[row] = summary.bad == kOk ? Standing::unpaired : Standing::excluded;
      if (standing[row] == Standing::excluded) stats->excluded++;
      if (summary.bad != kOk || summary.weight == 0) continue;
      y[count] = summary.value;
      weights[count] = summary.weight;
      taking[count++] = row;
    }
    if (count == 0) continue;
    if (count == 1) {
      countSingleton(stats, taking[0]);
      continue;
    }
    const Centre centre = centreOf(y.get(), count);
    if (centre.flat()) stats->zeroVariance++;
    for (int64_t i = 0; i < count; i++) y[i] = centre.inside(y[i]);
    leaveOneOut(y.get(), weights.get(), count, means.get(), alone.get());
    for (int64_t i = 0; i < count; i++) {
      baseline[taking[i]] = centre.lowest + centre.outside(means[i]);
      standing[taking[i]] = Standing::paired;
    }
  }
}

template <class T>
struct Output {
  T* advantages;
  T* returns;  // or null
};

template <class T>
void fillSpan(T* out, int64_t first, int64_t last, T value, const NoMask&) {
  fillTokens(out, first, last, value);
}
template <class T>
void fillSpan(T* out, int64_t first, int64_t last, T value, const ByteMask& mask) {
  fillCounted(out, first, last, value, mask.bytes);
}

// Spans come last to first, but memory is written fastest in rising order: holds some back and writes them turned
// round.
template <class T, class Mask>
class SpanWriter {
 public:
  SpanWriter(const Output<T>& out, const Mask& mask) : out_(out), mask_(mask) {}

  void add(int64_t first, int64_t last, double advantage, double tail) {
    if (count_ == kHeld) flush();
    if (count_ == 0) last_ = last;
    firsts_[count_] = first;
    advantages_[count_] = saturated(advantage, T(0));
    if (out_.returns != nullptr) returns_[count_] = saturated(tail, T(0));
    count_++;
  }
  void flush() {
    write(out_.advantages, advantages_);
    if (out_.returns != nullptr) write(out_.returns, returns_);
    count_ = 0;
  }

 private:
  static constexpr int64_t kHeld = 256;

  void write(T* out, const T* values) const {
    for (int64_t i = count_ - 1; i >= 0; i--)
      fillSpan(out, firsts_[i], i == 0 ? last_ : firsts_[i - 1] - 1, values[i], mask_);
  }

  Output<T> out_;
  Mask mask_;
  int64_t count_ = 0, last_ = 0;
  int64_t firsts_[kHeld];
  T advantages_[kHeld], returns_[kHeld];
};

template <class T>
void clearRow(const Output<T>& out, const Rows& tokens, int64_t row) {
  fillTokens(out.advantages, tokens.begin(row), tokens.end(row) - 1, T(0));
  if (out.returns != nullptr) fillTokens(out.returns, tokens.begin(row), tokens.end(row) - 1, T(0));
}

// The lowest bad element that is not a NaN taking its row out.
int64_t firstUnusable(Summary* summaries, int64_t rows, const Groups& groups) {
  for (int64_t row = 0; row < rows; row++) {
    if (summaries[row].bad != kOk && !(groups.excludeNaN && summaries[row].badIsNaN)) return summaries[row].bad;
  }
  return kOk;
}

// One batch: how its rows are walked, and where the first pass is cut.
struct Batch {
  const BaselineRule& rule;
  const Rows& tokens;
  const Rows& summaryRows;  // what the first pass reads
  const Groups& groups;
};

// Two passes over the rows: what each tells its siblings, then the advantages. sourceOf(last pass) makes the rewards
// of a pass, stepsOf(row) its steps, lastStep(row) one past its last step.
template <class T, class Mask, class Charge, class SourceOf, class StepsOf, class LastStep>
int64_t leaveOneOutTokens(const Batch& batch, const Mask& mask, const Charge& charge, const Output<T>& out,
                          GroupStats* stats, const SourceOf& sourceOf, const StepsOf& stepsOf,
                          const LastStep& lastStep) {
  const Rows& tokens = batch.tokens;
  Scratch<Summary> summaries(tokens.count);
  Scratch<double> baseline(tokens.count);
  Scratch<Standing> standing(tokens.count);
  parallelRows(batch.summaryRows, 1 << 14, [&](int64_t row) {
    auto source = sourceOf(false);
    const auto steps = stepsOf(row);
    Summary summary = summarise(batch.rule, mask, [&](const auto& visit) {
      walkBackward(source, steps, tokens.end(row), lastStep(row), charge, visit);
    });
    summary.bad = source.bad;
    summary.badIsNaN = source.bad != kOk && isNaN(source.rewards[source.bad]);
    summaries[row] = summary;
  });
  const int64_t bad = firstUnusable(summaries.get(), tokens.count, batch.groups);
  if (bad != kOk) return bad;
  baselines(summaries.get(), tokens.count, batch.groups, baseline.get(), standing.get(), stats);
  parallelRows(tokens, 1 << 15, [&](int64_t row) {
    if (standing[row] == Standing::excluded) return clearRow(out, tokens, row);
    auto source = sourceOf(true);
    const auto steps = stepsOf(row);
    const double own = baseline[row];
    const bool zero = standing[row] == Standing::unpaired && !batch.groups.rawSingletons;
    SpanWriter<T, Mask> writer(out, mask);
    walkBackward(source, steps, tokens.end(row), lastStep(row), charge,
                 [&](int64_t first, int64_t last, double tail, double charged) {
                   writer.add(first, last, zero ? 0 : tail - own * charged, tail);
                 });
    writer.flush();
  });
  return kOk;
}

template <StepKind kKind, class T, class Mask, class Charge>
int64_t runTokens(const Batch& batch, const TokenRewards<T>& in, const Mask& mask, const Charge& charge,
                  const Output<T>& out, GroupStats* stats) {
  return leaveOneOutTokens<T>(
      batch, mask, charge, out, stats,
      [&](bool last) {
        // KL after the baseline is paid by the row alone: it is in the returns, not in what the siblings are told.
        const T* kl = last || !in.klAfterBaseline ? in.kl : nullptr;
        return TokenSource<T, Mask>{in.rewards, kl, in.klCoefficient, mask};
      },
      [&](int64_t row) {
        const int64_t firstStep = kKind == StepKind::ends ? in.steps.begin(row) : 0;
        return RowSteps<kKind, Mask>{mask, in.tokens.begin(row), firstStep, in.stepEnds};
      },
      [&](int64_t row) { return kKind == StepKind::ends ? in.steps.end(row) : 0; });
}

// Without a baseline per step there is no need to know the steps.
template <class T, class Mask>
int64_t runKind(const Batch& batch, const TokenRewards<T>& in, const Mask& mask, const ChargeOnce& charge,
                const Output<T>& out, GroupStats* stats) {
  return runTokens<StepKind::none>(batch, in, mask, charge, out, stats);
}
template <class T, class Mask, class Charge>
int64_t runKind(const Batch& batch, const TokenRewards<T>& in, const Mask& mask, const Charge& charge,
                const Output<T>& out, GroupStats* stats) {
  return in.stepEnds == nullptr ? runTokens<StepKind::everyToken>(batch, in, mask, charge, out, stats)
                                : runTokens<StepKind::ends>(batch, in, mask, charge, out, stats);
}

template <class T, class Mask, class Charge>
int64_t runSteps(const Batch& batch, const StepRewards<T>& in, const Mask& mask, const Charge& charge,
                 const Output<T>& out, GroupStats* stats) {
  return leaveOneOutTokens<T>(
      batch, mask, charge, out, stats, [&](bool) { return StepSource<T>{in.rewards}; },
      [&](int64_t row) {
        return RowSteps<StepKind::ends, Mask>{mask, in.tokens.begin(row), in.steps.begin(row), in.stepEnds};
      },
      [&](int64_t row) { return in.steps.end(row); });
}

}  // namespace

template <class T>
int64_t tokenRloo(const BaselineRule& rule, const TokenRewards<T>& in, const Groups& groups, T* advantages, T* returns,
                  GroupStats* stats) {
  if (in.kl != nullptr) {
    const int64_t bad = firstNonFinite(in.kl, in.mask, 0, in.tokens.total());
    if (bad != kOk) return bad;
  }
  const Batch batch{rule, in.tokens, in.tokens, groups};
  const Output<T> out{advantages, returns};
  return byMask(in.mask, [&](const auto& mask) {
    return byCharge(rule, mask, [&](const auto& charge) { return runKind(batch, in, mask, charge, out, stats); });
  });
}

template <class T>
int64_t stepRloo(const BaselineRule& rule, const StepRewards<T>& in, const Groups& groups, T* advantages, T* returns,
                 GroupStats* stats) {
  // Without a mask the first pass touches steps only.
  const Batch batch{rule, in.tokens, in.mask == nullptr ? in.steps : in.tokens, groups};
  const Output<T> out{advantages, returns};
  return byMask(in.mask, [&](const auto& mask) {
    return byCharge(rule, mask, [&](const auto& charge) { return runSteps(batch, in, mask, charge, out, stats); });
  });
}

template int64_t tokenRloo(const BaselineRule&, const TokenRewards<float>&, const Groups&, float*, float*, GroupStats*);
template int64_t tokenRloo(const BaselineRule&, const TokenRewards<double>&, const Groups&, double*, double*,
                           GroupStats*);
template int64_t stepRloo(const BaselineRule&, const StepRewards<float>&, const Groups&, float*, float*, GroupStats*);
template int64_t stepRloo(const BaselineRule&, const StepRewards<double>&, const Groups&, double*, double*,
                          GroupStats*);

}  // namespace MINFORM_ISA
}  // namespace minform
