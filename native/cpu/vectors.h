// Native vectors of the ISA level, for kernels whose lane loops the compiler does not turn into good code by itself.
// As in lanes.h, lane i of the 16 lanes of a group sees the same operations in the same order on every level; a level
// with narrower vectors handles the group in several pieces.
#pragma once

#if defined(MINFORM_X86)
#include <immintrin.h>
#endif

#include "lanes.h"

namespace minform {
namespace MINFORM_ISA {

#if defined(MINFORM_ISA_avx512)
constexpr int kVectorBytes = 64;
#elif defined(MINFORM_ISA_avx2)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

typedef float FloatVector __attribute__((vector_size(kVectorBytes)));
typedef uint32_t BitsVector __attribute__((vector_size(kVectorBytes)));
typedef double DoubleVector __attribute__((vector_size(kVectorBytes)));
typedef float HalfFloatVector __attribute__((vector_size(kVectorBytes / 2)));  // as many floats as DoubleVector holds

constexpr int kFloats = kVectorBytes / 4;
constexpr int kDoubles = kVectorBytes / 8;

template <class T>
struct VectorOf;
template <>
struct VectorOf<float> {
  typedef FloatVector type;
};
template <>
struct VectorOf<double> {
  typedef DoubleVector type;
};

template <class T>
inline typename VectorOf<T>::type loadLanes(const T* from) {
  typename VectorOf<T>::type value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

inline void storeLanes(float* to, FloatVector value) { __builtin_memcpy(to, &value, sizeof value); }
inline void storeLanes(double* to, DoubleVector value) { __builtin_memcpy(to, &value, sizeof value); }

// x - 0 is x for every x, so this costs nothing but the broadcast.
inline FloatVector allLanes(float value) { return value - FloatVector{}; }
inline DoubleVector allLanes(double value) { return value - DoubleVector{}; }

// lanes[i] += values[i] in float64.
inline void foldInto(double* lanes, FloatVector values) {
  HalfFloatVector halves[2];
  __builtin_memcpy(halves, &values, sizeof values);
  for (int half = 0; half < 2; half++) {
    double* at = lanes + half * kDoubles;
    storeLanes(at, loadLanes(at) + __builtin_convertvector(halves[half], DoubleVector));
  }
}

// The larger or smaller lane of the two; where either is NaN, b. (Spelt out on x86: compilers see a comparison and a
// blend in the ternary, two instructions for one.)
inline FloatVector largerLanes(FloatVector a, FloatVector b) {
#if defined(MINFORM_ISA_avx512)
  return _mm512_max_ps(a, b);
#elif defined(MINFORM_ISA_avx2)
  return _mm256_max_ps(a, b);
#elif defined(MINFORM_X86)
  return _mm_max_ps(a, b);
#else
  return a > b ? a : b;
#endif
}

inline FloatVector smallerLanes(FloatVector a, FloatVector b) {
#if defined(MINFORM_ISA_avx512)
  return _mm512_min_ps(a, b);
#elif defined(MINFORM_ISA_avx2)
  return _mm256_min_ps(a, b);
#elif defined(MINFORM_X86)
  return _mm_min_ps(a, b);
#else
  return a < b ? a : b;
#endif
}

inline DoubleVector largerLanes(DoubleVector a, DoubleVector b) { return a > b ? a : b; }
inline DoubleVector smallerLanes(DoubleVector a, DoubleVector b) { return a < b ? a : b; }

// 2^y for y in [-125, 127] or NaN, within 1.9e-7 relative; 2^0 is 1. No clamps: the caller's range makes them
// unnecessary. The polynomial is the minimax one of degree 5 on [-1/2, 1/2] through (0, 1).
inline FloatVector exp2InRange(FloatVector y) {
  const float shifter = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer in the low mantissa bits
  const FloatVector shifted = y + shifter;
  const FloatVector r = y - (shifted - shifter);
  FloatVector p = r * 1.326466561295092e-3f + 9.671511128544807e-3f;
  p = p * r + 5.550733953714371e-2f;
  p = p * r + 2.4022242426872253e-1f;
  p = p * r + 6.931470036506653e-1f;
  p = p * r + 1.0f;
  // The integer stands in the low bits of `shifted`; moved into the exponent it multiplies by its power of two.
  return (FloatVector)((BitsVector)p + ((BitsVector)shifted << 23));
}

}  // namespace MINFORM_ISA
}  // namespace minform
