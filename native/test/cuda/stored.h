// Arrays of every element type for tests of device kernels.
#pragma once

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "device_test.h"
#include "minform/matrix.h"

namespace minform::cuda {

inline double fromHalf(uint16_t bits) {
  const double magnitude = (bits & 0x7C00) == 0 ? std::ldexp(bits & 0x3FF, -24)
                                                : std::ldexp((bits & 0x3FF) + 1024, ((bits >> 10) & 31) - 25);
  const double value = (bits & 0x7C00) == 0x7C00 ? ((bits & 0x3FF) == 0 ? INFINITY : NAN) : magnitude;
  return (bits & 0x8000) != 0 ? -value : value;
}

inline double fromBfloat16(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

// The nearest, ties to even; values are in the range of the type.
inline uint16_t bitsOf(double value, Element element) {
  const bool half = element == Element::float16;
  const int digits = half ? 11 : 8, least = half ? -14 : -126, bias = half ? 15 : 127;
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const auto infinite = static_cast<uint16_t>((2 * bias + 1) << (digits - 1));
  if (std::isnan(value)) return static_cast<uint16_t>(infinite + 1);
  if (std::isinf(value)) return static_cast<uint16_t>(sign + infinite);
  int exponent = 0;
  std::frexp(value, &exponent);
  exponent = value == 0 || exponent - 1 < least ? least : exponent - 1;
  // The leading digit of a normal number adds one to its exponent field.
  const auto digitsOf = static_cast<int>(std::nearbyint(std::ldexp(std::fabs(value), digits - 1 - exponent)));
  return static_cast<uint16_t>(sign + ((exponent - least) << (digits - 1)) + digitsOf);
}

// An array as stored, on the device, and as float64.
struct Stored {
  Element element;
  std::vector<double> exact;
  Uploaded<double> doubles;
  Uploaded<float> floats;
  Uploaded<uint16_t> shorts;

  static std::vector<double> roundedTo(std::vector<double> values, Element element) {
    for (double& value : values) {
      if (element == Element::float32) value = static_cast<float>(value);
      if (element == Element::bfloat16) value = fromBfloat16(bitsOf(value, element));
      if (element == Element::float16) value = fromHalf(bitsOf(value, element));
    }
    return values;
  }

  static std::vector<uint16_t> shortsOf(const std::vector<double>& values, Element element) {
    std::vector<uint16_t> shorts;
    if (element != Element::bfloat16 && element != Element::float16) return shorts;
    for (const double value : values) shorts.push_back(bitsOf(value, element));
    return shorts;
  }

  template <class T>
  static std::vector<T> wholes(const std::vector<double>& values, bool wanted) {
    return wanted ? std::vector<T>(values.begin(), values.end()) : std::vector<T>();
  }

  Stored(std::vector<double> values, Element element)
      : element(element),
        exact(roundedTo(std::move(values), element)),
        doubles(wholes<double>(exact, element == Element::float64)),
        floats(wholes<float>(exact, element == Element::float32)),
        shorts(shortsOf(exact, element)) {}

  const void* device() const {
    if (element == Element::float64) return doubles.get();
    return element == Element::float32 ? static_cast<const void*>(floats.get()) : shorts.get();
  }
};

}  // namespace minform::cuda
