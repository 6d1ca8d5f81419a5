// The policy objectives, those of native/cpu/loss/objectives.h: loss of a token and its derivative with respect to the
// token's log-prob. `ratio` is exp of the clamped log-ratio, or the row's. Where a term and its clipped form tie, the
// unclipped one's derivative is taken.
#pragma once

#include "math.h"
#include "minform/loss.h"

namespace minform::cuda {

template <class T>
struct Term {
  T loss;
  T slope;  // d loss / d logProb
  bool clipped, lower, clamped;
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

  __device__ __forceinline__ Term<T> token(T ratio, T, T advantage, T, RowValue<T>) const {
    const bool negative = advantage < 0, cut = negative && ratio > maxRatio;
    const T plain = -advantage * (cut ? maxRatio : ratio);
    const T bounded = -advantage * clamped(ratio, low, high);
    const bool clip = bounded > plain;
    const T upper = clip ? bounded : plain, ceiling = -advantage * dualClip;
    const bool dual = negative && upper > ceiling, lower = dual || (cut && !clip);
    return {dual ? ceiling : upper, clip || lower ? T(0) : -advantage * ratio, clip, lower, false};
  }
};

// Token form sg[s] pi / sg[pi] of the sequence ratio s = exp(mean log-ratio): PPO's terms at s.
template <class T>
struct Gspo : Ppo<T> {
  static constexpr bool kRowPass = true;
  static constexpr bool kRowRatio = true;

  explicit Gspo(const PolicyParameters& p) : Ppo<T>(p) {}

  __device__ __forceinline__ T rowTerm(T logRatio, T) const { return logRatio; }
  __device__ __forceinline__ RowValue<T> finish(const RowSums& sums, double length) const {
    return {static_cast<T>(exp(sums.logRatio / length)), T(0)};
  }
};

// Geometric mean of ratios clipped in log space on the side that PPO clips; every token carries the row's loss.
template <class T>
struct Gmpo : TokenObjective {
  static constexpr bool kRowPass = true;
  static constexpr bool kRowWeight = true;
  T low, high;

  explicit Gmpo(const PolicyParameters& p) : low(static_cast<T>(p.low)), high(static_cast<T>(p.high)) {}

  __device__ __forceinline__ T rowTerm(T logRatio, T advantage) const {
    const T limited = advantage > 0 ? smaller(logRatio, high) : larger(logRatio, low);
    return advantage == 0 ? T(0) : limited;
  }
  __device__ __forceinline__ RowValue<T> finish(const RowSums& sums, double length) const {
    const double ratio = exp(sums.logRatio / length);
    return {T(0), static_cast<T>(-(sums.advantage / length) * ratio * (sums.weight / length))};
  }
  __device__ __forceinline__ Term<T> token(T, T logRatio, T advantage, T, RowValue<T> row) const {
    const bool clip = advantage != 0 && rowTerm(logRatio, advantage) != logRatio;
    return {row.loss, clip || advantage == 0 ? T(0) : row.loss, clip, false, false};
  }
};

template <class T>
__device__ __forceinline__ T limitedLogProb(T logProb) {
  return clamped(logProb, static_cast<T>(-kLargestLogProb), static_cast<T>(kLargestLogProb));
}

// -sg[clip(ratio)] A log pi.
template <class T>
struct Cispo : TokenObjective {
  static constexpr bool kDetached = true;
  T low, high;

  explicit Cispo(const PolicyParameters& p) : low(static_cast<T>(p.low)), high(static_cast<T>(p.high)) {}

  __device__ __forceinline__ Term<T> token(T ratio, T, T advantage, T logProb, RowValue<T>) const {
    const T weight = clamped(ratio, low, high), limited = limitedLogProb(logProb), slope = -advantage * weight;
    return {slope * limited, slope, weight != ratio, false, limited != logProb};
  }
};

// -A (4 / tau) sigmoid(tau (ratio - 1)).
template <class T>
struct Sapo : TokenObjective {
  T tauPositive, tauNegative;

  explicit Sapo(const PolicyParameters& p)
      : tauPositive(static_cast<T>(p.tauPositive)), tauNegative(static_cast<T>(p.tauNegative)) {}

  __device__ __forceinline__ Term<T> token(T ratio, T, T advantage, T, RowValue<T>) const {
    const T tau = advantage > 0 ? tauPositive : tauNegative;
    const T e = expOf(-tau * (ratio - T(1)));
    const T gate = T(1) / (T(1) + e);
    return {-advantage * (T(4) / tau) * gate, -advantage * T(4) * (gate * (e * gate)) * ratio, false, false, false};
  }
};

// -A log pi.
template <class T>
struct Reinforce : TokenObjective {
  static constexpr bool kUsesRatio = false;
  static constexpr bool kDetached = true;

  explicit Reinforce(const PolicyParameters&) {}

  __device__ __forceinline__ Term<T> token(T, T, T advantage, T logProb, RowValue<T>) const {
    const T limited = limitedLogProb(logProb);
    return {-advantage * limited, -advantage, false, false, limited != logProb};
  }
};

}  // namespace minform::cuda
