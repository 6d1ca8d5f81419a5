// Mean and spread of many numbers, taken in parts and merged, in units that keep squares inside float64.
#pragma once

#include <cmath>

#include "arithmetic/scalar.h"
#include "minform/advantage.h"

namespace minform {
namespace MINFORM_SPACE {

// 1, or a power of two far below or above it.
struct Units {
  double down, up;  // at most 1, at least 1: applied before and after the subtraction

  MINFORM_FUNCTION double difference(double a, double b) const { return (a * down - b * down) * up; }
  MINFORM_FUNCTION double scale() const { return down * up; }
};

struct Moments {
  double count, first;   // counted elements, and the first of them
  double mean, squares;  // mean of (x - first), sum of squared distances from the mean, in Units
};

// The moments of a and b together, measured from a.first.
MINFORM_FUNCTION Moments merged(const Moments& a, const Moments& b, const Units& units) {
  if (a.count == 0) return b;
  if (b.count == 0) return a;
  Moments m = a;
  m.count = a.count + b.count;
  const double apart = units.difference(b.first, a.first) + b.mean - a.mean;
  m.mean = a.mean + apart * (b.count / m.count);
  m.squares = a.squares + b.squares + apart * apart * (a.count * b.count / m.count);
  return m;
}

// The units that moments taken in units of 1 ask for.
MINFORM_FUNCTION Units unitsFor(const Moments& m, const WhitenRule& rule) {
  return {isFinite(m.squares) ? 1 : 0x1p-600, m.squares < 1e-200 && rule.epsilon < 1e-180 ? 0x1p+500 : 1};
}

// Whitened: x -> (difference(x, first) - mean) * factor + shift.
struct Whitener {
  double factor, shift;
};
MINFORM_FUNCTION Whitener whitenerOf(const Moments& m, const Units& units, const WhitenRule& rule) {
  const double scale = units.scale();
  const double variance = m.count > rule.ddof ? m.squares / (m.count - rule.ddof) : 0;
  const double deviation = ::sqrt(variance + rule.epsilon * scale * scale);
  return {deviation > 0 ? 1 / deviation : 0, rule.shiftMean ? 0 : m.first + m.mean / scale};
}

}  // namespace MINFORM_SPACE
}  // namespace minform
