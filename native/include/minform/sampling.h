// Drawing a token from each row of logits. What is drawn depends on the row, the rule, the seed and the row's counter
// alone, not on the batch nor on the number of threads.
//
// The weight of a token is exp((x - max) / temperature) in units of 2^-44, rounded down: sums of weights are exact in
// any order, so a draw is as well. Truncation is in the order min-p, top-k, top-p (of what min-p and top-k leave): the
// fewest most likely tokens whose weights reach top-p, at least one. Tokens are ranked by logit, of equal logits the
// one with the smaller id first. A uniform u selects the first token at which the running sum of weights passes
// u * sum: by rank where the rule truncates, else by id.
//
// The weight itself is within 4e-7 (T = float) or 1e-13 (double) of the exact one, and so are log-probs, absolutely,
// beyond 1e-6 or 1e-8: backends draw the same token except where u falls that close to the border of two.
#pragma once

#include <cstdint>

#include "minform/matrix.h"
#include "minform/pool.h"
#include "minform/ragged.h"
#include "minform/random.h"

namespace minform {

// More would let sums of weights overflow.
constexpr int64_t kMaxSamplingColumns = int64_t{1} << 18;

struct SamplingRule {
  double temperature;  // 0: the most likely token
  int64_t topK;        // 0: all
  double topP;         // 1: all
  double minP;         // of the most likely token's probability; 0: all
};

template <class T>
struct SamplingOutput {
  int32_t* tokens;
  T* logProbs;           // of the whole distribution at the temperature (at 1 for temperature 0), or null
  T* truncatedLogProbs;  // of what the rule leaves, or null; 0 for temperature 0
};

template <class T>
struct SamplingKernels {
  // Returns kOk, the first row without a defined distribution (a NaN or +Infinity logit, or only -Infinity ones), or
  // any value once `cancelled` is set. At most kMaxSamplingColumns columns.
  int64_t (*sample)(const Matrix& logits, const SamplingRule& rule, uint64_t seed, const RandomCounter* counters,
                    const SamplingOutput<T>& out, const CancelFlag& cancelled);
};

template <class T>
const SamplingKernels<T>& sampling();

}  // namespace minform
