// Sampling without sorting: where in the ranking a running sum passes a threshold is found digit by digit of the
// logits' bits, by sums over the tokens that share the digits before.
#include "minform/sampling.h"

#include "arithmetic/ranking.h"
#include "elements.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

enum class Measure { count, weight };

template <class T>
class Row {
 public:
  using Key = decltype(keyOf(T()));
  // The last token that is kept, in the ranking.
  struct Cut {
    Key key;
    int64_t id;
  };

  Row(const Matrix& logits, int64_t row) : count_(logits.columns), logits_(count_), weights_(count_) {
    readElements(logits.data, logits.element, row * count_, count_, logits_.get());
  }

  // False without a defined distribution.
  bool weigh(double inverseTemperature) {
    max_ = -HUGE_VALF;
    for (int64_t i = 0; i < count_; i++) {
      if (isNaN(logits_[i])) return false;
      if (logits_[i] > logits_[mostLikely_]) mostLikely_ = i;
    }
    max_ = logits_[mostLikely_];
    if (max_ - max_ != 0) return false;
    inverse_ = inverseTemperature;
    const T factor = static_cast<T>(inverseTemperature);
    for (int64_t i = 0; i < count_; i++) {
      const T difference = logits_[i] - max_;
      const T weight = expOf(difference == 0 ? T(0) : difference * factor);
      weights_[i] = static_cast<uint64_t>(static_cast<double>(weight) * kUnit);
    }
    return true;
  }

  int64_t mostLikely() const { return mostLikely_; }

  void atLeast(double minP) {
    lowest_ = ::log(minP);
    for (int64_t i = 0; i < count_; i++) {
      if (!((static_cast<double>(logits_[i]) - max_) * inverse_ >= lowest_)) weights_[i] = 0;
    }
  }
  void keepUpTo(const Cut& cut) {
    for (int64_t i = 0; i < count_; i++) {
      const Key key = keyOf(logits_[i]);
      if (key < cut.key || (key == cut.key && i > cut.id)) weights_[i] = 0;
    }
  }

  uint64_t total(Measure measure) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < count_; i++) sum += measured(measure, i);
    return sum;
  }

  // By rank, the first token at which the running sum passes `threshold`.
  Cut passesByRank(Measure measure, uint64_t threshold) {
    Key key = 0;
    for (int shift = 8 * static_cast<int>(sizeof(Key)) - 8; shift >= 0; shift -= 8) {
      uint64_t sums[256] = {};
      for (int64_t i = 0; i < count_; i++) {
        const Key own = keyOf(logits_[i]);
        // In two steps: a shift by the whole width is undefined.
        if (((own ^ key) >> shift >> 8) == 0) sums[own >> shift & 255] += measured(measure, i);
      }
      int digit = 255;
      while (digit > 0 && sums[digit] <= threshold) threshold -= sums[digit--];
      key |= static_cast<Key>(digit) << shift;
    }
    return {key, passes(measure, threshold, [&](int64_t i) { return keyOf(logits_[i]) == key; })};
  }

  int64_t passesById(uint64_t threshold) {
    return passes(Measure::weight, threshold, [](int64_t) { return true; });
  }

  double logProb(int64_t token, uint64_t sum) {
    return (static_cast<double>(logits_[token]) - max_) * inverse_ - ::log(static_cast<double>(sum) / kUnit) + 0.0;
  }

 private:
  uint64_t measured(Measure measure, int64_t i) {
    return measure == Measure::weight ? weights_[i] : static_cast<uint64_t>(weights_[i] > 0);
  }

  template <class Among>
  int64_t passes(Measure measure, uint64_t threshold, const Among& among) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < count_; i++) {
      if (among(i)) sum += measured(measure, i);
      if (sum > threshold) return i;
    }
    return count_ - 1;
  }

  int64_t count_, mostLikely_ = 0;
  Scratch<T> logits_;
  Scratch<uint64_t> weights_;  // 0 once a token is out
  double max_ = 0, inverse_ = 1, lowest_ = 0;
};

template <class T>
bool sampleRow(const Matrix& logits, int64_t index, const SamplingRule& rule, double uniform,
               const SamplingOutput<T>& out) {
  const bool greedy = rule.temperature == 0;
  Row<T> row(logits, index);
  if (!row.weigh(greedy ? 1 : 1 / rule.temperature)) return false;
  const uint64_t whole = row.total(Measure::weight);
  uint64_t left = whole;
  int64_t token = row.mostLikely();
  if (!greedy) {
    if (rule.minP > 0) row.atLeast(rule.minP);
    if (rule.topK > 0 && static_cast<uint64_t>(rule.topK) < row.total(Measure::count)) {
      row.keepUpTo(row.passesByRank(Measure::count, static_cast<uint64_t>(rule.topK) - 1));
    }
    left = row.total(Measure::weight);
    if (rule.topP < 1) {
      const double wanted = ::ceil(rule.topP * static_cast<double>(left));
      const uint64_t before = wanted > 1 ? static_cast<uint64_t>(wanted) - 1 : 0;
      row.keepUpTo(row.passesByRank(Measure::weight, before < left ? before : left - 1));
      left = row.total(Measure::weight);
    }
    const bool truncates = rule.topK > 0 || rule.topP < 1 || rule.minP > 0;
    const uint64_t threshold = partOf(left, uniform);
    token = truncates ? row.passesByRank(Measure::weight, threshold).id : row.passesById(threshold);
  }
  out.tokens[index] = static_cast<int32_t>(token);
  if (out.logProbs != nullptr) out.logProbs[index] = static_cast<T>(row.logProb(token, whole));
  if (out.truncatedLogProbs != nullptr) {
    out.truncatedLogProbs[index] = greedy ? T(0) : static_cast<T>(row.logProb(token, left));
  }
  return true;
}

template <class T>
int64_t sample(const Matrix& logits, const SamplingRule& rule, uint64_t seed, const RandomCounter* counters,
               const SamplingOutput<T>& out, const CancelFlag& cancelled) {
  Scratch<uint8_t> defined(logits.rows);
  parallel(logits.rows, [&](int64_t row) {
    if (cancelled.load(std::memory_order_relaxed)) return;
    defined[row] = sampleRow(logits, row, rule, uniformAt(seed, counters[row]), out);
  });
  if (cancelled.load(std::memory_order_relaxed)) return kOk;
  for (int64_t row = 0; row < logits.rows; row++) {
    if (defined[row] == 0) return row;
  }
  return kOk;
}

}  // namespace

void samplingTable(SamplingKernels<float>& kernels) { kernels.sample = sample<float>; }
void samplingTable(SamplingKernels<double>& kernels) { kernels.sample = sample<double>; }

}  // namespace MINFORM_ISA
}  // namespace minform
