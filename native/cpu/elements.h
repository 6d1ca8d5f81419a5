// Reading and writing bfloat16 and float16 as float32. Widening is exact; narrowing rounds to nearest, ties to even.
#pragma once

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "arithmetic/half.h"
#include "lanes.h"
#include "minform/matrix.h"

namespace minform {
namespace MINFORM_ISA {

inline int64_t elementBytes(Element element) {
  return element == Element::float64 ? 8 : element == Element::float32 ? 4 : 2;
}

inline void widenBfloat16(const uint16_t* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; i++) to[i] = floatFromBfloat16(from[i]);
}

inline void widenFloat16(const uint16_t* from, int64_t count, float* to) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= count; i += 8) {
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  }
#endif
  for (; i < count; i++) to[i] = floatFromFloat16(from[i]);
}

inline void narrowBfloat16(const float* from, int64_t count, uint16_t* to) {
  for (int64_t i = 0; i < count; i++) to[i] = bfloat16FromFloat(from[i]);
}

inline void narrowFloat16(const float* from, int64_t count, uint16_t* to) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= count; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  }
#endif
  for (; i < count; i++) to[i] = float16FromFloat(from[i]);
}

// Elements [first, first + count) of an array as float32 in `buffer`.
inline void readElements(const void* data, Element element, int64_t first, int64_t count, float* buffer) {
  if (element == Element::float32) {
    __builtin_memcpy(buffer, static_cast<const float*>(data) + first, static_cast<size_t>(count) * sizeof(float));
  } else if (element == Element::bfloat16) {
    widenBfloat16(static_cast<const uint16_t*>(data) + first, count, buffer);
  } else {
    widenFloat16(static_cast<const uint16_t*>(data) + first, count, buffer);
  }
}
inline void readElements(const void* data, Element, int64_t first, int64_t count, double* buffer) {
  __builtin_memcpy(buffer, static_cast<const double*>(data) + first, static_cast<size_t>(count) * sizeof(double));
}

inline void writeElements(const float* buffer, Element element, int64_t first, int64_t count, void* data) {
  if (element == Element::float32) {
    __builtin_memcpy(static_cast<float*>(data) + first, buffer, static_cast<size_t>(count) * sizeof(float));
  } else if (element == Element::bfloat16) {
    narrowBfloat16(buffer, count, static_cast<uint16_t*>(data) + first);
  } else {
    narrowFloat16(buffer, count, static_cast<uint16_t*>(data) + first);
  }
}

// One element in float64.
inline double elementAt(const void* data, Element element, int64_t index) {
  switch (element) {
    case Element::float32:
      return static_cast<const float*>(data)[index];
    case Element::float64:
      return static_cast<const double*>(data)[index];
    case Element::bfloat16:
      return floatFromBfloat16(static_cast<const uint16_t*>(data)[index]);
    case Element::float16:
      return floatFromFloat16(static_cast<const uint16_t*>(data)[index]);
  }
  return 0;
}

}  // namespace MINFORM_ISA
}  // namespace minform
