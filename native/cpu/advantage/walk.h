// The tokens of a row from the last to the first, as spans over which nothing changes. Mask, kind of steps and charge
// are types, so that the loops of the plain cases carry no tests.
#pragma once

#include "family.h"

namespace minform {
namespace MINFORM_ISA {

struct NoMask {
  static bool counts(int64_t) { return true; }
  static int64_t count(int64_t first, int64_t last) { return last - first + 1; }
};

struct ByteMask {
  const uint8_t* bytes;

  bool counts(int64_t i) const { return bytes[i] != 0; }
  int64_t count(int64_t first, int64_t last) const { return countTokens(bytes, first, last); }
};

enum class StepKind { none, ends, everyToken };

struct Step {
  int64_t end;    // flat index of its last token, one before the row when there is no step left
  int64_t index;  // which step of the batch it is
};

// The counted steps of one row. A step whose last token is masked out is part of the step after it.
template <StepKind kKind, class Mask>
struct RowSteps {
  static constexpr StepKind kind = kKind;
  Mask mask;
  int64_t begin;      // the row's first token
  int64_t firstStep;  // the row's first step
  const int32_t* ends;

  Step before(const Step& step) const {
    if (kKind == StepKind::ends) {
      for (int64_t i = step.index - 1; i >= firstStep; i--) {
        if (mask.counts(begin + ends[i])) return {begin + ends[i], i};
      }
    } else if (kKind == StepKind::everyToken) {
      for (int64_t end = step.end - 1; end >= begin; end--) {
        if (mask.counts(end)) return {end, -1};
      }
    }
    return {begin - 1, -1};
  }
};

// visit(first, last, returnOf, charged) for spans of tokens [first, last], the last span first: the return of every
// token in the span (gamma 1), and `charged` plus charge(first, last) of the steps that end at or after it. `source`
// holds the rewards: at(token, step that ends there or -1), and runStart(token, stop), the first token of the span
// without rewards before `token`.
template <class Source, class Steps, class Charge, class Visit>
__attribute__((always_inline)) inline void walkBackward(Source& source, const Steps& steps, int64_t end,
                                                        int64_t lastStep, const Charge& charge, const Visit& visit) {
  double tail = 0, charged = Charge::initial;
  Step step = steps.before({end, lastStep});
  for (int64_t token = end - 1; token >= steps.begin;) {
    const bool closes = Steps::kind != StepKind::none && token == step.end;
    tail += source.at(token, closes ? step.index : -1);
    if (closes) {
      const Step below = steps.before(step);
      charged += charge(below.end + 1, step.end);
      step = below;
    }
    const int64_t first = source.runStart(token, step.end + 1);
    visit(first, token, finite(tail), charged);
    token = first - 1;
  }
}

// Rewards on tokens: reward - coefficient * kl where kl is given.
template <class T, class Mask>
struct TokenSource {
  const T* rewards;
  const T* kl;
  double coefficient;
  Mask mask;
  int64_t bad = kOk;  // the lowest index seen whose reward is NaN or infinite

  double at(int64_t token, int64_t) {
    if (!mask.counts(token)) return 0;
    const double reward = rewards[token];
    if (!isFinite(reward)) bad = token;
    return kl == nullptr ? reward : reward - coefficient * kl[token];
  }
  int64_t runStart(int64_t token, int64_t stop) const {
    if (token <= stop || isBusy(token - 1)) return token;  // dense rewards never get to the blocks
    return skip<1>(skip<8>(skip<32>(token, stop), stop), stop);
  }

 private:
  template <int64_t kBlock>
  int64_t skip(int64_t token, int64_t stop) const {
    while (token - kBlock >= stop && !isBusyBlock<kBlock>(token - kBlock)) token -= kBlock;
    return token;
  }

  bool isBusy(int64_t i) const { return mask.counts(i) & !((kl == nullptr) & (rewards[i] == 0)); }

  template <int64_t kBlock>
  bool isBusyBlock(int64_t begin) const {
    int busy = 0;
    if (kl != nullptr) return mask.count(begin, begin + kBlock - 1) > 0;
    for (int64_t i = begin; i < begin + kBlock; i++) busy |= mask.counts(i) & !(rewards[i] == 0);
    return busy != 0;
  }
};

// Rewards on the last tokens of steps.
template <class T>
struct StepSource {
  const T* rewards;
  int64_t bad = kOk;  // the lowest step seen whose reward is NaN or infinite

  double at(int64_t, int64_t step) {
    if (step < 0) return 0;
    if (!isFinite(rewards[step])) bad = step;
    return rewards[step];
  }
  int64_t runStart(int64_t, int64_t stop) const { return stop; }
};

// How often the baseline is charged: once for the row, or for every step once or once per token.
struct ChargeOnce {
  static constexpr double initial = 1;
  double operator()(int64_t, int64_t) const { return 0; }
};
template <class Mask>
struct ChargePerStep {
  static constexpr double initial = 0;
  Mask mask;
  bool tokens;
  int64_t left;  // tokens of a step that do not count

  double operator()(int64_t first, int64_t last) const {
    return tokens ? static_cast<double>(mask.count(first, last) - left) : 1;
  }
};

// body(mask) with the mask as a type, then body(charge) likewise.
template <class Body>
int64_t byMask(const uint8_t* mask, const Body& body) {
  return mask == nullptr ? body(NoMask{}) : body(ByteMask{mask});
}
template <class Mask, class Body>
int64_t byCharge(const BaselineRule& rule, const Mask& mask, const Body& body) {
  if (rule.baseline == Baseline::outcome || rule.baseline == Baseline::returns) return body(ChargeOnce{});
  return body(ChargePerStep<Mask>{mask, rule.baseline == Baseline::token, rule.countSeparators ? 0 : 1});
}

}  // namespace MINFORM_ISA
}  // namespace minform
