// Values of a group in units in which neither a common offset nor their size matters.
#pragma once

#include <cmath>

#include "arithmetic/scalar.h"

namespace minform {
namespace MINFORM_SPACE {

// Values measured from the lowest one in units of a power of two that brings the whole range into [0, 1): the shift
// removes a common offset without rounding, and squares and sums can neither overflow nor vanish.
struct Centre {
  double lowest, highest;
  int exponent;

  MINFORM_FUNCTION Centre(double low, double high) : lowest(low), highest(high), exponent(0) {
    const double range = highest - lowest;
    ::frexp(isFinite(range) ? range : DBL_MAX, &exponent);
    if (!isFinite(range)) exponent++;
  }
  MINFORM_FUNCTION bool flat() const { return lowest == highest; }
  MINFORM_FUNCTION double inside(double value) const {
    const double above = value - lowest;
    return isFinite(above) ? ::ldexp(above, -exponent) : ::ldexp(value * 0.5 - lowest * 0.5, 1 - exponent);
  }
  MINFORM_FUNCTION double outside(double centred) const { return ::ldexp(centred, exponent); }
};

// A standard deviation in units of 2^exponent.
struct Deviation {
  double value;
  int exponent;
};

// 2^exponent y / (std + epsilon). Both sides are brought down when they are large, and taken as they are when they are
// small beside epsilon.
MINFORM_FUNCTION double standardised(double y, int exponent, const Deviation& std, double epsilon) {
  const int common = exponent > std.exponent ? exponent : std.exponent;
  const int shift = common > 0 || epsilon == 0 ? common : 0;
  const double divisor = ::ldexp(std.value, std.exponent - shift) + ::ldexp(epsilon, -shift);
  return divisor == 0 ? 0 : ::ldexp(y, exponent - shift) / divisor;
}

}  // namespace MINFORM_SPACE
}  // namespace minform
