// The tokens of a row from the last to the first, as spans over which nothing changes.
#pragma once

#include "family.h"

namespace minform {
namespace MINFORM_ISA {

// The counted steps of one row. A step whose last token is masked out is part of the step after it.
struct RowSteps {
  enum class Kind { none, ends, everyToken };
  struct Step {
    int64_t end;    // flat index of its last token, begin - 1 when there is no step left
    int64_t index;  // which step of the batch it is
  };

  Kind kind;
  int64_t begin;      // the row's first token
  int64_t firstStep;  // the row's first step
  const int32_t* ends;
  const uint8_t* mask;

  Step before(Step step) const {
    if (kind == Kind::ends) {
      for (int64_t i = step.index - 1; i >= firstStep; i--) {
        if (trained(mask, begin + ends[i])) return {begin + ends[i], i};
      }
    } else if (kind == Kind::everyToken) {
      for (int64_t end = step.end - 1; end >= begin; end--) {
        if (trained(mask, end)) return {end, -1};
      }
    }
    return {begin - 1, -1};
  }
};

// visit(first, last, returnOf, charged) for spans of tokens [first, last], the last span first: the return of every
// token in the span (gamma 1), and the sum of charge(tokens of the step, counted) over the steps that end at or after
// it. `source` holds the rewards: at(token, step that ends there or -1), and runStart(token, stop), the first token of
// the span without rewards before `token`.
template <class Source, class Charge, class Visit>
inline void walkBackward(Source& source, const RowSteps& steps, int64_t end, int64_t lastStep, double charged,
                         const Charge& charge, const Visit& visit) {
  double tail = 0;
  RowSteps::Step step = steps.before({end, lastStep});
  for (int64_t token = end - 1; token >= steps.begin;) {
    const bool closes = token == step.end;
    tail += source.at(token, closes ? step.index : -1);
    if (closes) {
      const RowSteps::Step below = steps.before(step);
      charged += charge(below.end + 1, step.end);
      step = below;
    }
    const int64_t first = source.runStart(token, step.end + 1);
    visit(first, token, finite(tail), charged);
    token = first - 1;
  }
}

// Rewards on tokens: reward - coefficient * kl where kl is given.
template <class T>
struct TokenSource {
  const T* rewards;
  const T* kl;
  double coefficient;
  const uint8_t* mask;
  int64_t bad = kOk;  // the lowest index seen whose reward is NaN or infinite

  double at(int64_t token, int64_t) {
    if (!trained(mask, token)) return 0;
    const double reward = rewards[token];
    if (!isFinite(reward)) bad = token;
    return kl == nullptr ? reward : reward - coefficient * kl[token];
  }
  int64_t runStart(int64_t token, int64_t stop) const {
    constexpr int64_t kBlock = 16;
    if (token <= stop || isBusy(token - 1)) return token;  // dense rewards never get to the blocks
    while (token - kBlock >= stop) {
      int busy = 0;
      for (int64_t i = token - kBlock; i < token; i++) busy |= isBusy(i);
      if (busy) break;
      token -= kBlock;
    }
    while (token > stop && !isBusy(token - 1)) token--;
    return token;
  }
  int isBusy(int64_t i) const {
    return (mask == nullptr || mask[i] != 0) & !((kl == nullptr) & (rewards[i] == 0));
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

}  // namespace MINFORM_ISA
}  // namespace minform
