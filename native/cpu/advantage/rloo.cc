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

bool perResponse(Baseline baseline) { return baseline == Baseline::outcome || baseline == Baseline::returns; }

// How often the baseline is charged for a step with its tokens in [first, last].
struct Charge {
  BaselineRule rule;
  const uint8_t* mask;

  double operator()(int64_t first, int64_t last) const {
    if (perResponse(rule.baseline)) return 0;
    if (rule.baseline == Baseline::step) return 1;
    return static_cast<double>(countTokens(mask, first, last) - (rule.countSeparators ? 0 : 1));
  }
};

// One row's walk, whatever the rewards stand on.
template <class Visit, class Source>
void walkRow(const BaselineRule& rule, Source& source, const RowSteps& steps, const Rows& tokens, int64_t row,
             int64_t lastStep, const Visit& visit) {
  walkBackward(source, steps, tokens.end(row), lastStep, perResponse(rule.baseline) ? 1 : 0, Charge{rule, steps.mask}, visit);
}

// The outcome, the mean return and the counts of one row. Returns are summed from the last one, so that equal returns
// give exactly that return; where the sum overflows it is taken again in smaller units.
template <class Walk>
Summary summarise(const BaselineRule& rule, const uint8_t* mask, const Walk& walk) {
  double outcome = 0, last = 0, above = 0, charged = 0, counted = 0, unit = 1;
  const auto pass = [&] {
    above = counted = 0;
    walk([&](int64_t first, int64_t end, double tail, double charges) {
      const double tokens = static_cast<double>(countTokens(mask, first, end));
      if (counted == 0) last = tail;
      above += tokens * (tail * unit - last * unit);
      counted += tokens;
      outcome = tail;
      charged = charges;
    });
  };
  pass();
  if (!isFinite(above)) {
    unit = 0x1p-64;
    pass();
  }
  Summary summary;
  if (counted == 0) return summary;
  const double length = larger(counted, rule.minTokens);
  switch (rule.baseline) {
    case Baseline::outcome:
      return {outcome, 1};
    case Baseline::returns:
      return {last + above / counted / unit, counted};
    case Baseline::step:
      return charged == 0 ? summary : Summary{outcome / charged, 1};
    case Baseline::token:
      return {outcome / length, length};
  }
  return summary;
}

// Every row's baseline from the summaries of its siblings.
void baselines(Summary* summaries, int64_t rows, const Groups& groups, double* baseline, Standing* standing, GroupStats* stats) {
  GroupMembers members(groups, rows);
  Scratch<double> y(rows), weights(rows), means(rows);
  Scratch<uint8_t> alone(rows);
  Scratch<int64_t> taking(rows);
  stats->groups = groups.count;
  for (int64_t g = 0; g < groups.count; g++) {
    int64_t count = 0;
    for (int64_t place = members.begin(g); place < members.end(g); place++) {
      const int64_t row = members.row(place);
      baseline[row] = 0;
      standing[row] = summaries[row].bad == kOk ? Standing::unpaired : Standing::excluded;
      if (standing[row] == Standing::excluded) stats->excluded++;
      if (summaries[row].bad != kOk || summaries[row].weight == 0) continue;
      y[count] = summaries[row].value;
      weights[count] = summaries[row].weight;
      taking[count++] = row;
    }
    if (count == 0) continue;
    if (count == 1) {
      countSingleton(stats, taking[0]);
      continue;
    }
    const Centre centre(y.get(), count);
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

// A_t = G_t - b M_t over one row.
template <class T, class Walk>
void writeRow(const Output<T>& out, const uint8_t* mask, double baseline, bool zero, const Walk& walk) {
  walk([&](int64_t first, int64_t last, double tail, double charged) {
    const double advantage = zero ? 0 : tail - baseline * charged;
    fillTokens(out.advantages, first, last, saturated(advantage, T(0)), mask);
    if (out.returns != nullptr) fillTokens(out.returns, first, last, saturated(tail, T(0)), mask);
  });
}

template <class T>
void clearRow(const Output<T>& out, const Rows& tokens, int64_t row) {
  fillTokens(out.advantages, tokens.begin(row), tokens.end(row) - 1, T(0), nullptr);
  if (out.returns != nullptr) fillTokens(out.returns, tokens.begin(row), tokens.end(row) - 1, T(0), nullptr);
}

// The lowest bad element that is not a NaN taking its row out.
int64_t firstUnusable(Summary* summaries, int64_t rows, const Groups& groups) {
  for (int64_t row = 0; row < rows; row++) {
    if (summaries[row].bad != kOk && !(groups.excludeNaN && summaries[row].badIsNaN)) return summaries[row].bad;
  }
  return kOk;
}

// Two passes over the rows: what each tells its siblings, then the advantages. walk(row, source for pass, visit).
template <class T, class Summarise, class Write>
int64_t leaveOneOutTokens(const Rows& tokens, const Rows& grainRows, int64_t grain, const Groups& groups,
                          const Output<T>& out, GroupStats* stats, const Summarise& summariseRow, const Write& write) {
  Scratch<Summary> summaries(tokens.count);
  Scratch<double> baseline(tokens.count);
  Scratch<Standing> standing(tokens.count);
  parallelRows(grainRows, grain, [&](int64_t row) { summaries[row] = summariseRow(row); });
  const int64_t bad = firstUnusable(summaries.get(), tokens.count, groups);
  if (bad != kOk) return bad;
  baselines(summaries.get(), tokens.count, groups, baseline.get(), standing.get(), stats);
  parallelRows(tokens, 1 << 15, [&](int64_t row) {
    if (standing[row] == Standing::excluded) {
      clearRow(out, tokens, row);
    } else {
      write(row, baseline[row], standing[row] == Standing::unpaired && !groups.rawSingletons);
    }
  });
  return kOk;
}

}  // namespace

template <class T>
int64_t tokenRloo(const BaselineRule& rule, const TokenRewards<T>& in, const Groups& groups, T* advantages, T* returns,
                  GroupStats* stats) {
  if (in.kl != nullptr) {
    const int64_t bad = firstNonFinite(in.kl, in.mask, 0, in.tokens.total());
    if (bad != kOk) return bad;
  }
  const auto kind = perResponse(rule.baseline)  ? RowSteps::Kind::none
                    : in.stepEnds == nullptr    ? RowSteps::Kind::everyToken
                                                : RowSteps::Kind::ends;
  const bool ends = kind == RowSteps::Kind::ends;
  const auto stepsOf = [&](int64_t row) {
    return RowSteps{kind, in.tokens.begin(row), ends ? in.steps.begin(row) : 0, in.stepEnds, in.mask};
  };
  const auto lastStep = [&](int64_t row) { return ends ? in.steps.end(row) : 0; };
  const Output<T> out{advantages, returns};
  // KL after the baseline is paid by the row alone: it is in the returns, not in what the siblings are told.
  const T* told = in.klAfterBaseline ? nullptr : in.kl;
  return leaveOneOutTokens<T>(
      in.tokens, in.tokens, 1 << 15, groups, out, stats,
      [&](int64_t row) {
        TokenSource<T> source{in.rewards, told, in.klCoefficient, in.mask};
        Summary summary = summarise(rule, in.mask, [&](const auto& visit) {
          walkRow(rule, source, stepsOf(row), in.tokens, row, lastStep(row), visit);
        });
        summary.bad = source.bad;
        summary.badIsNaN = source.bad != kOk && isNaN(in.rewards[source.bad]);
        return summary;
      },
      [&](int64_t row, double baseline, bool zero) {
        TokenSource<T> source{in.rewards, in.kl, in.klCoefficient, in.mask};
        writeRow(out, in.mask, baseline, zero, [&](const auto& visit) {
          walkRow(rule, source, stepsOf(row), in.tokens, row, lastStep(row), visit);
        });
      });
}

template <class T>
int64_t stepRloo(const BaselineRule& rule, const StepRewards<T>& in, const Groups& groups, T* advantages, T* returns,
                 GroupStats* stats) {
  const auto walk = [&](StepSource<T>& source, int64_t row, const auto& visit) {
    const RowSteps steps{RowSteps::Kind::ends, in.tokens.begin(row), in.steps.begin(row), in.stepEnds, in.mask};
    walkRow(rule, source, steps, in.tokens, row, in.steps.end(row), visit);
  };
  const Output<T> out{advantages, returns};
  // Without a mask the first pass touches steps only.
  return leaveOneOutTokens<T>(
      in.tokens, in.mask == nullptr ? in.steps : in.tokens, in.mask == nullptr ? 1 << 14 : 1 << 16, groups, out, stats,
      [&](int64_t row) {
        StepSource<T> source{in.rewards};
        Summary summary = summarise(rule, in.mask, [&](const auto& visit) { walk(source, row, visit); });
        summary.bad = source.bad;
        summary.badIsNaN = source.bad != kOk && isNaN(in.rewards[source.bad]);
        return summary;
      },
      [&](int64_t row, double baseline, bool zero) {
        StepSource<T> source{in.rewards};
        writeRow(out, in.mask, baseline, zero, [&](const auto& visit) { walk(source, row, visit); });
      });
}

template int64_t tokenRloo(const BaselineRule&, const TokenRewards<float>&, const Groups&, float*, float*, GroupStats*);
template int64_t tokenRloo(const BaselineRule&, const TokenRewards<double>&, const Groups&, double*, double*, GroupStats*);
template int64_t stepRloo(const BaselineRule&, const StepRewards<float>&, const Groups&, float*, float*, GroupStats*);
template int64_t stepRloo(const BaselineRule&, const StepRewards<double>&, const Groups&, double*, double*, GroupStats*);

}  // namespace MINFORM_ISA
}  // namespace minform
