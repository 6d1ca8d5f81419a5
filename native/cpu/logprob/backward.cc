// Gradient with respect to the logits: with p = exp(z - logSumExp), over the temperature,
//   g_logProb (e_target - p) - g_entropy p (log p + H) = e_target g_logProb + p (a + b log p).
#include "gradient.h"
#include "segments.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

constexpr int64_t kBlock = 1024;

template <bool Entropy>
double spreadFloats(const Matrix& logits, int64_t row, int64_t begin, int64_t end, const GradientVectors& g,
                    void* out) {
  alignas(64) float buffer[kBlock];
  double lanes[kLanes] = {};
  for (int64_t at = begin; at < end; at += kBlock) {
    int64_t count = smaller(kBlock, end - at);
    const int64_t first = row + at;
    if (logits.element == Element::float32 && count == kBlock) {
      gradientBlock<Entropy>(static_cast<const float*>(logits.data) + first, count, g, static_cast<float*>(out) + first,
                             lanes);
      continue;
    }
    readElements(logits.data, logits.element, first, count, buffer);
    const int64_t real = count;
    for (; count % kGroup != 0; count++) buffer[count] = -HUGE_VALF;
    gradientBlock<Entropy>(buffer, count, g, buffer, lanes);
    writeElements(buffer, logits.element, first, real, out);
  }
  return foldLanes(lanes);
}

// Logits [begin, end) of the row that starts at element `row`. Returns the sum of p.
double spread(const Matrix& logits, int64_t row, int64_t begin, int64_t end, const RowGradient& g, void* out, float) {
  return g.slope == 0 ? spreadFloats<false>(logits, row, begin, end, GradientVectors(g), out)
                      : spreadFloats<true>(logits, row, begin, end, GradientVectors(g), out);
}

double spread(const Matrix& logits, int64_t row, int64_t begin, int64_t end, const RowGradient& g, void* out, double) {
  const double* x = static_cast<const double*>(logits.data) + row;
  double* to = static_cast<double*>(out) + row;
  double sum = 0;
  for (int64_t i = begin; i < end; i++) to[i] = g.at(x[i], &sum);
  return sum;
}

void writeOne(double value, Element element, int64_t index, void* out) {
  if (element == Element::float64) {
    static_cast<double*>(out)[index] = value;
  } else {
    const float rounded = static_cast<float>(value);
    writeElements(&rounded, element, index, 1, out);
  }
}

}  // namespace

template <class T>
int64_t backward(const Matrix& logits, const int32_t* targets, double temperature, const LogProbGradients<T>& in,
                 void* gradLogits, const CancelFlag& cancelled) {
  int64_t bad = kOk;
  forEachSegment<double>(
      logits.rows, logits.columns, cancelled,
      [&](int64_t row, int64_t begin, int64_t end, double& probability) {
        const RowGradient g(in, row, temperature);
        const int64_t start = row * logits.columns, target = targets[row];
        const bool here = target >= begin && target < end;
        // Read before the block is written: the output may be the input.
        const double logit = here ? elementAt(logits.data, logits.element, start + target) : 0;
        probability = spread(logits, start, begin, end, g, gradLogits, T(0));
        if (here) writeOne(g.atTarget(logit), logits.element, start + target, gradLogits);
      },
      [&](int64_t row, const double* slots, int64_t segments) {
        double probability = 0;
        for (int64_t i = 0; i < segments; i++) probability += slots[i];
        if (bad == kOk && !RowGradient(in, row, temperature).plausible(probability)) bad = row;
      });
  return bad;
}

template int64_t backward(const Matrix&, const int32_t*, double, const LogProbGradients<float>&, void*,
                          const CancelFlag&);
template int64_t backward(const Matrix&, const int32_t*, double, const LogProbGradients<double>&, void*,
                          const CancelFlag&);

}  // namespace MINFORM_ISA
}  // namespace minform
