// bfloat16 and float16 by their bits. Widening is exact; narrowing rounds to nearest, ties to even.
#pragma once

#include "arithmetic/scalar.h"

namespace minform {
namespace MINFORM_SPACE {

MINFORM_FUNCTION float floatFromBfloat16(uint16_t bits) { return sameBits<float>(static_cast<uint32_t>(bits) << 16); }

MINFORM_FUNCTION uint16_t bfloat16FromFloat(float value) {
  const uint32_t bits = sameBits<uint32_t>(value);
  const uint32_t rounded = bits + 0x7FFF + (bits >> 16 & 1);
  return static_cast<uint16_t>((value != value ? bits | 0x400000 : rounded) >> 16);
}

MINFORM_FUNCTION float floatFromFloat16(uint16_t bits) {
  const uint32_t magnitude = static_cast<uint32_t>(bits & 0x7FFF) << 13;
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  // The exponent is off by 112; as a product the subnormals come out right too.
  const uint32_t finite = sameBits<uint32_t>(sameBits<float>(magnitude) * 5.192296858534828e33f);
  return sameBits<float>((magnitude >= 0x0F800000 ? magnitude | 0x7F800000 : finite) | sign);
}

MINFORM_FUNCTION uint16_t float16FromFloat(float value) {
  const uint32_t bits = sameBits<uint32_t>(value), magnitude = bits & 0x7FFFFFFF;
  const uint32_t normal = (magnitude - 0x38000000 + 0xFFF + (magnitude >> 13 & 1)) >> 13;
  // Below the smallest normal half, adding 0.5 lets the float adder round to the subnormal's last place.
  const uint32_t subnormal = sameBits<uint32_t>(sameBits<float>(magnitude) + 0.5f) - 0x3F000000;
  uint32_t half = magnitude < 0x38800000 ? subnormal : normal;
  half = magnitude >= 0x477FF000 ? 0x7C00 : half;
  half = magnitude > 0x7F800000 ? 0x7E00 : half;
  return static_cast<uint16_t>(half | (bits >> 16 & 0x8000));
}

}  // namespace MINFORM_SPACE
}  // namespace minform
