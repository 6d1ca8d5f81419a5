// Log-probs, entropy, logsumexp and sum p^2 of rows of logits in one pass over memory: blocks small enough for the
// first-level cache are read for their maximum, then again for the sums.
#include "minform/logprob.h"

#include "partial.h"
#include "segments.h"
#include "vectors.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

constexpr int64_t kBlock = 8 * kGroup;  // 4 KB of float32

float blockMax(const float* x, int64_t count) {
  float lanes[kLanes];
  for (int piece = 0; piece < kLanes; piece += kFloats) {
    FloatVector a = loadLanes(x + piece), b = a;
    for (int64_t i = kLanes; i + kLanes < count; i += 2 * kLanes) {
      a = largerLanes(loadLanes(x + i + piece), a);
      b = largerLanes(loadLanes(x + i + kLanes + piece), b);
    }
    a = largerLanes(loadLanes(x + count - kLanes + piece), a);
    storeLanes(lanes + piece, largerLanes(a, b));
  }
  float found = lanes[0];
  for (int i = 1; i < kLanes; i++) found = larger(found, lanes[i]);
  return found;
}

// Sums over the blocks read so far, relative to one maximum.
struct LaneSums {
  double sum[kLanes] = {}, weighted[kLanes] = {}, squares[kLanes] = {};

  Partial folded(double max, const BaseTwo& units) const {
    const double natural = foldLanes(weighted) * units.toNatural;
    // 2^(y * factor) is exp(y (1 + drift)): taken out of the sum to first order.
    return {max, foldLanes(sum) - units.drift * natural, natural, foldLanes(squares)};
  }
};

// `next` is where the next block stands in memory, with kLanes elements per `stride` bytes: it is fetched meanwhile.
template <bool Squares>
void addBlock(const float* x, int64_t count, float max, float factor, const char* next, int64_t stride,
              LaneSums& into) {
  for (int64_t group = 0; group < count; group += kGroup) {
    for (int64_t line = 0; line < kTerms * stride; line += 64)
      __builtin_prefetch(next + group / kLanes * stride + line);
    for (int piece = 0; piece < kLanes; piece += kFloats) {
      FloatVector sum = {}, weighted = {}, squares = {};
#pragma GCC unroll 8
      for (int term = 0; term < kTerms; term++) {
        const FloatVector x16 = loadLanes(x + group + term * kLanes + piece);
        const FloatVector y = largerLanes(allLanes(kLowestLog2), (x16 - max) * factor);
        const FloatVector e = exp2InRange(y);
        sum += e;
        weighted += e * y;
        if (Squares) {
          const FloatVector seen = largerLanes(allLanes(kFaintest), e);
          squares += seen * seen;
        }
      }
      foldInto(into.sum + piece, sum);
      foldInto(into.weighted + piece, weighted);
      if (Squares) foldInto(into.squares + piece, squares);
    }
  }
}

bool holdsNaN(const float* x, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    if (isNaN(x[i])) return true;
  }
  return false;
}

// Logits [begin, end) of the row that starts at element `row`, in float32 blocks.
Partial scan(const Matrix& logits, int64_t row, int64_t begin, int64_t end, double inverseTemperature, bool squares,
             float) {
  alignas(64) float buffer[kBlock];
  const BaseTwo units(inverseTemperature);
  const int64_t bytes = elementBytes(logits.element);
  float max = -HUGE_VALF;
  Partial earlier = kNothing;  // what was summed relative to lower maxima
  LaneSums lanes;
  for (int64_t at = begin; at < end; at += kBlock) {
    int64_t count = smaller(kBlock, end - at);
    const float* block = buffer;
    if (logits.element == Element::float32 && count == kBlock) {
      block = static_cast<const float*>(logits.data) + row + at;
    } else {
      readElements(logits.data, logits.element, row + at, count, buffer);
      for (; count % kGroup != 0; count++) buffer[count] = -HUGE_VALF;
    }
    const float highest = blockMax(block, count);
    if (highest > max) {
      earlier.merge(lanes.folded(max, units), inverseTemperature);
      lanes = LaneSums();
      max = highest;
    } else if (max == -HUGE_VALF && !holdsNaN(block, count)) {
      continue;
    }
    const char* next = static_cast<const char*>(logits.data) + (row + at + kBlock) * bytes;
    if (squares) {
      addBlock<true>(block, count, max, units.factor, next, kLanes * bytes, lanes);
    } else {
      addBlock<false>(block, count, max, units.factor, next, kLanes * bytes, lanes);
    }
  }
  earlier.merge(lanes.folded(max, units), inverseTemperature);
  return earlier;
}

Partial scan(const Matrix& logits, int64_t row, int64_t begin, int64_t end, double inverseTemperature, bool, double) {
  const double* x = static_cast<const double*>(logits.data) + row;
  double max = -HUGE_VAL;
  bool undefined = false;
  for (int64_t i = begin; i < end; i++) {
    max = larger(max, x[i]);
    undefined = undefined || isNaN(x[i]) || x[i] == HUGE_VAL;
  }
  Partial partial = kNothing;
  partial.max = max;
  if (undefined) partial.sum = NAN;
  if (undefined || max == -HUGE_VAL) return partial;
  for (int64_t i = begin; i < end; i++) {
    const double y = (x[i] - max) * inverseTemperature, e = ::exp(y);
    partial.sum += e;
    partial.weighted += e == 0 ? 0 : e * y;
    partial.squares += e * e;
  }
  return partial;
}

}  // namespace

template <class T>
int64_t forward(const Matrix& logits, const int32_t* targets, double temperature, const LogProbOutput<T>& out,
                const CancelFlag& cancelled) {
  const double inverse = 1 / temperature;
  int64_t bad = kOk;
  forEachSegment<Partial>(
      logits.rows, logits.columns, cancelled,
      [&](int64_t row, int64_t begin, int64_t end, Partial& slot) {
        slot = scan(logits, row * logits.columns, begin, end, inverse, out.sumSquaredProbs != nullptr, T(0));
      },
      [&](int64_t row, const Partial* slots, int64_t segments) {
        Partial whole = slots[0];
        for (int64_t i = 1; i < segments; i++) whole.merge(slots[i], inverse);
        const double target = elementAt(logits.data, logits.element, row * logits.columns + targets[row]);
        if (!writeRow(whole, row, target, inverse, out) && bad == kOk) bad = row;
      });
  return bad;
}

template int64_t forward(const Matrix&, const int32_t*, double, const LogProbOutput<float>&, const CancelFlag&);
template int64_t forward(const Matrix&, const int32_t*, double, const LogProbOutput<double>&, const CancelFlag&);

}  // namespace MINFORM_ISA
}  // namespace minform
