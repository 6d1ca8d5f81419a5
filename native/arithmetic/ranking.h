// Logits as integers whose order and sums are exact.
#pragma once

#include "arithmetic/scalar.h"

namespace minform {
namespace MINFORM_SPACE {

constexpr double kUnit = 0x1p44;  // the weight of the most likely token

// Unsigned numbers in the order of the logits; -0 counts as +0.
MINFORM_FUNCTION uint32_t keyOf(float x) {
  const uint32_t bits = sameBits<uint32_t>(x + 0.0f);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}
MINFORM_FUNCTION uint64_t keyOf(double x) {
  const uint64_t bits = sameBits<uint64_t>(x + 0.0);
  return (bits >> 63) != 0 ? ~bits : bits | uint64_t{1} << 63;
}

// share * sum rounded down, below the sum.
MINFORM_FUNCTION uint64_t partOf(uint64_t sum, double share) {
  const uint64_t part = static_cast<uint64_t>(share * static_cast<double>(sum));
  return part < sum ? part : sum - 1;
}

}  // namespace MINFORM_SPACE
}  // namespace minform
