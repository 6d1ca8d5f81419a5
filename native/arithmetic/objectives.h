// The policy objectives: loss of a token and its derivative with respect to the token's log-prob.
//
// token(ratio, logRatio, advantage, logProb, row) -> Term. `ratio` is exp of the clamped log-ratio, or the row's. Where
// a term and its clipped form tie, the unclipped one's derivative is taken: `>` in place of `>=` throughout. Conditions
// are joined by & and |, not && and ||, whose branches would keep the loops over tokens from becoming vector code.
#pragma once

#include "arithmetic/exponential.h"
#include "minform/loss.h"

namespace minform {
namespace MINFORM_SPACE {

// Log-probs enter a value limited to +- this: a loss of -A log pi stays finite where log pi is -Infinity.
constexpr double kLargestLogProb = 1e4;

// Flags of a token, one field of ten bits each: a block has fewer than 1024 tokens, so a sum of flags counts them all.
constexpr uint32_t kClippedFlag = 1, kLowerFlag = 1 << 10, kClampedFlag = 1 << 20, kBadFlag = 1u << 31;

template <class T>
struct Term {
  T loss;
  T slope;  // d loss / d logProb
  uint32_t flags;
};

// Totals over a row that sequence-level objectives need.
struct RowSums {
  double logRatio, advantage, weight;
};

// What a sequence-level objective derives from them.
template <class T>
struct RowValue {
  T ratio;  // gspo: the sequence's ratio
  T loss;   // gmpo: the loss that every token of the row carries; slope is the same
};

// Traits that most objectives share.
struct TokenObjective {
  static constexpr bool kUsesRatio = true;   // reads the old log-probs
  static constexpr bool kRowPass = false;    // needs RowSums
  static constexpr bool kRowRatio = false;   // token() is given the row's ratio
  static constexpr bool kRowWeight = false;  // uses the row's mean importance weight in place of the tokens'
  static constexpr bool kDetached = false;   // the ratio is a constant for the gradient
};

template <class T>
struct Ppo : TokenObjective {
  T low, high, dualClip, maxRatio;

  explicit Ppo(const PolicyParameters& p)
      : low(static_cast<T>(p.low)),
        high(static_cast<T>(p.high)),
        dualClip(static_cast<T>(p.dualClip)),
        maxRatio(static_cast<T>(p.maxRatio)) {}

  MINFORM_FUNCTION Term<T> token(T ratio, T, T advantage, T, RowValue<T>) const {
    const bool negative = advantage < 0;
    const bool cut = negative & (ratio > maxRatio);
    const T plain = -advantage * (cut ? maxRatio : ratio);
    const T bounded = -advantage * clamped(ratio, low, high);
    const bool clip = bounded > plain;
    const T upper = clip ? bounded : plain;
    const T ceiling = -advantage * dualClip;
    const bool dual = negative & (upper > ceiling);
    const bool lower = dual | (cut & !clip);
    return {dual ? ceiling : upper, clip | lower ? T(0) : -advantage * ratio,
            (clip ? kClippedFlag : 0u) | (lower ? kLowerFlag : 0u)};
  }
};

// Token form sg[s] pi / sg[pi] of the sequence ratio s = exp(mean log-ratio): PPO's terms at s.
template <class T>
struct Gspo : Ppo<T> {
  static constexpr bool kRowPass = true;
  static constexpr bool kRowRatio = true;

  explicit Gspo(const PolicyParameters& p) : Ppo<T>(p) {}

  MINFORM_FUNCTION T rowTerm(T logRatio, T) const { return logRatio; }
  MINFORM_FUNCTION RowValue<T> finish(const RowSums& sums, double length) const {
    return {static_cast<T>(::exp(sums.logRatio / length)), T(0)};
  }
};

// Geometric mean of ratios clipped in log space on the side that PPO clips; every token carries the row's loss.
template <class T>
struct Gmpo : TokenObjective {
  static constexpr bool kRowPass = true;
  static constexpr bool kRowWeight = true;
  T low, high;

  explicit Gmpo(const PolicyParameters& p) : low(static_cast<T>(p.low)), high(static_cast<T>(p.high)) {}

  MINFORM_FUNCTION T rowTerm(T logRatio, T advantage) const {
    const T limited = advantage > 0 ? smaller(logRatio, high) : larger(logRatio, low);
    return advantage == 0 ? T(0) : limited;
  }
  MINFORM_FUNCTION RowValue<T> finish(const RowSums& sums, double length) const {
    const double ratio = ::exp(sums.logRatio / length);
    return {T(0), static_cast<T>(-(sums.advantage / length) * ratio * (sums.weight / length))};
  }
  MINFORM_FUNCTION Term<T> token(T, T logRatio, T advantage, T, RowValue<T> row) const {
    const bool clip = (advantage != 0) & (rowTerm(logRatio, advantage) != logRatio);
    return {row.loss, clip | (advantage == 0) ? T(0) : row.loss, clip ? kClippedFlag : 0u};
  }
};

template <class T>
MINFORM_FUNCTION T limitedLogProb(T logProb) {
  return clamped(logProb, static_cast<T>(-kLargestLogProb), static_cast<T>(kLargestLogProb));
}

// -sg[clip(ratio)] A log pi.
template <class T>
struct Cispo : TokenObjective {
  static constexpr bool kDetached = true;
  T low, high;

  explicit Cispo(const PolicyParameters& p) : low(static_cast<T>(p.low)), high(static_cast<T>(p.high)) {}

  MINFORM_FUNCTION Term<T> token(T ratio, T, T advantage, T logProb, RowValue<T>) const {
    const T weight = clamped(ratio, low, high);
    const T limited = limitedLogProb(logProb), slope = -advantage * weight;
    return {slope * limited, slope, (weight != ratio ? kClippedFlag : 0u) | (limited != logProb ? kClampedFlag : 0u)};
  }
};

// -A (4 / tau) sigmoid(tau (ratio - 1)).
template <class T>
struct Sapo : TokenObjective {
  T tauPositive, tauNegative;

  explicit Sapo(const PolicyParameters& p)
      : tauPositive(static_cast<T>(p.tauPositive)), tauNegative(static_cast<T>(p.tauNegative)) {}

  MINFORM_FUNCTION Term<T> token(T ratio, T, T advantage, T, RowValue<T>) const {
    const T tau = advantage > 0 ? tauPositive : tauNegative;
    const T e = expOf(-tau * (ratio - T(1)));
    const T gate = T(1) / (T(1) + e);
    return {-advantage * (T(4) / tau) * gate, -advantage * T(4) * (gate * (e * gate)) * ratio, 0u};
  }
};

// -A log pi.
template <class T>
struct Reinforce : TokenObjective {
  static constexpr bool kUsesRatio = false;
  static constexpr bool kDetached = true;

  explicit Reinforce(const PolicyParameters&) {}

  MINFORM_FUNCTION Term<T> token(T, T, T advantage, T logProb, RowValue<T>) const {
    const T limited = limitedLogProb(logProb);
    return {-advantage * limited, -advantage, limited != logProb ? kClampedFlag : 0u};
  }
};

}  // namespace MINFORM_SPACE
}  // namespace minform
