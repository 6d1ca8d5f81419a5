// Whitening: one read for the moments (two passes over blocks that stay in cache, merged in order), one for the output.
#include "family.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

constexpr int64_t kBlock = 4096;

// Units in which the squares of the differences stay inside float64: 1, or a power of two far below or above it.
struct Units {
  double down = 1, up = 1;  // at most 1, at least 1: applied before and after the subtraction

  double difference(double a, double b) const { return (a * down - b * down) * up; }
  double scale() const { return down * up; }
};

struct Moments {
  double count = 0, first = 0;   // counted elements, and the first of them
  double mean = 0, squares = 0;  // mean of (x - first), sum of squared distances from the mean, in Units
  int64_t bad = kOk;
};

template <class T>
Moments blockMoments(const T* values, const uint8_t* mask, int64_t begin, int64_t end, const Units& units) {
  Moments m;
  m.bad = firstNonFinite(values, mask, begin, end);
  int64_t at = begin;
  while (at < end && !trained(mask, at)) at++;
  if (at == end || m.bad != kOk) return m;
  m.first = values[at];
  m.count = static_cast<double>(countTokens(mask, begin, end - 1));
  const auto sumOver = [&](const auto& term) {
    double lanes[kLanes] = {};
    int64_t i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      for (int lane = 0; lane < kLanes; lane++) {
        const double value = term(units.difference(values[i + lane], m.first));
        lanes[lane] += trained(mask, i + lane) ? value : 0;
      }
    }
    for (int lane = 0; i < end; i++, lane++)
      lanes[lane] += trained(mask, i) ? term(units.difference(values[i], m.first)) : 0;
    return foldLanes(lanes);
  };
  m.mean = sumOver([](double x) { return x; }) / m.count;
  m.squares = sumOver([&](double x) { return (x - m.mean) * (x - m.mean); });
  return m;
}

// The moments of a and b together, measured from a.first.
Moments merged(const Moments& a, const Moments& b, const Units& units) {
  if (a.count == 0) return b;
  if (b.count == 0) return a;
  Moments m = a;
  m.count = a.count + b.count;
  const double apart = units.difference(b.first, a.first) + b.mean - a.mean;
  m.mean = a.mean + apart * (b.count / m.count);
  m.squares = a.squares + b.squares + apart * apart * (a.count * b.count / m.count);
  return m;
}

template <class T>
Moments allMoments(int64_t count, const T* values, const uint8_t* mask, const Units& units) {
  const int64_t blocks = (count + kBlock - 1) / kBlock;
  Scratch<Moments> parts(blocks);
  parallelBlocks(blocks, 8, [&](int64_t block) {
    parts[block] = blockMoments(values, mask, block * kBlock, smaller((block + 1) * kBlock, count), units);
  });
  Moments all;
  for (int64_t block = 0; block < blocks; block++) {
    if (parts[block].bad != kOk) return parts[block];
    all = merged(all, parts[block], units);
  }
  return all;
}

}  // namespace

template <class T>
int64_t whiten(const WhitenRule& rule, int64_t count, const T* values, const uint8_t* mask, T* out) {
  Units units;
  Moments m = allMoments(count, values, mask, units);
  if (m.bad != kOk) return m.bad;
  if (!isFinite(m.squares)) units.down = 0x1p-600;
  if (m.squares < 1e-200 && rule.epsilon < 1e-180) units.up = 0x1p+500;
  if (units.scale() != 1) m = allMoments(count, values, mask, units);
  const double variance = m.count > rule.ddof ? m.squares / (m.count - rule.ddof) : 0;
  const double deviation = ::sqrt(variance + rule.epsilon * units.scale() * units.scale());
  const double factor = deviation > 0 ? 1 / deviation : 0;
  const double shift = rule.shiftMean ? 0 : m.first + m.mean / units.scale();
  parallelBlocks((count + kBlock - 1) / kBlock, 8, [&](int64_t block) {
    const int64_t end = smaller((block + 1) * kBlock, count);
    for (int64_t i = block * kBlock; i < end; i++) {
      const double value = (units.difference(values[i], m.first) - m.mean) * factor + shift;
      out[i] = trained(mask, i) ? saturated(value, T(0)) : T(0);
    }
  });
  return kOk;
}

template int64_t whiten(const WhitenRule&, int64_t, const float*, const uint8_t*, float*);
template int64_t whiten(const WhitenRule&, int64_t, const double*, const uint8_t*, double*);

}  // namespace MINFORM_ISA
}  // namespace minform
