// Building blocks of the kernels, written once and compiled per ISA level.
//
// Sums run over kLanes interleaved accumulators that are folded by a fixed tree. The compiler may turn the lane loops
// into vector code of any width without changing the order of a single addition, so all ISA levels give the same bits.
// Only for use inside the kernel files: everything lives in the namespace of the ISA level.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "memory.h"
#include "minform/pool.h"
#include "minform/ragged.h"

#ifndef MINFORM_ISA
#error "lanes.h belongs to the per-ISA kernel files"
#endif

namespace minform {
namespace MINFORM_ISA {

constexpr int kLanes = 16;

// Sum of kLanes double accumulators by a fixed tree.
inline double foldLanes(const double* lanes) {
  double s[8];
  for (int i = 0; i < 8; i++) s[i] = lanes[i] + lanes[i + 8];
  for (int i = 0; i < 4; i++) s[i] += s[i + 4];
  return (s[0] + s[2]) + (s[1] + s[3]);
}

template <class T>
inline T smaller(T a, T b) {
  return b < a ? b : a;
}

template <class T>
inline T larger(T a, T b) {
  return a < b ? b : a;
}

// x limited to [low, high]; NaN stays NaN.
template <class T>
inline T clamped(T x, T low, T high) {
  return x < low ? low : (high < x ? high : x);
}

template <class T>
inline bool isNaN(T x) {
  return x != x;
}

template <class T>
inline bool isFinite(T x) {
  return x - x == 0;
}

// exp for float32, straight-line so that lane loops vectorise. Within 1.5 ulp on [-87.3, 88.7]; 0 below (no
// denormals), +Infinity above, NaN for NaN.
inline float expOf(float x) {
  const float low = -87.33654f, high = 88.72283f;
  const float y = clamped(x, low, high);
  const float shifter = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer in the low mantissa bits
  const float scaled = y * 1.44269504f + shifter;
  const float n = scaled - shifter;
  // ln 2 in two pieces, the first with few enough bits for n * piece to be exact.
  const float r = (y - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = (p * r) * r + r + 1.0f;
  int32_t bits;
  __builtin_memcpy(&bits, &scaled, sizeof bits);
  const int32_t exponent = bits - 0x4B400000;
  // 2^n in two factors: n reaches 128, one more than a float exponent holds.
  const int32_t half = exponent >> 1;
  // Unsigned: for a NaN the exponent is junk, and shifting a negative number is undefined.
  const uint32_t firstBits = static_cast<uint32_t>(half + 127) << 23;
  const uint32_t secondBits = static_cast<uint32_t>(exponent - half + 127) << 23;
  float first, second;
  __builtin_memcpy(&first, &firstBits, sizeof first);
  __builtin_memcpy(&second, &secondBits, sizeof second);
  const float value = (p * first) * second;
  const float finite = x < low ? 0.0f : (high < x ? HUGE_VALF : value);
  return x != x ? x : finite;
}

// exp for float64: the C library's, the reference mode.
inline double expOf(double x) { return ::exp(x); }

template <class T>
inline T expm1Of(T x) {
  return static_cast<T>(::expm1(static_cast<double>(x)));
}

// Scratch array that frees itself.
template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t count) : data_(static_cast<T*>(scratchAllocate(sizeof(T) * static_cast<size_t>(count)))) {}
  ~Scratch() { scratchFree(data_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* get() { return data_; }
  T& operator[](int64_t i) { return data_[i]; }

 private:
  T* data_;
};

// body(i) for i in [0, count) on the pool. Each index must write only what belongs to it.
template <class Body>
inline void parallel(int64_t count, const Body& body) {
  parallelFor(
      count, [](void* context, int64_t index) { (*static_cast<const Body*>(context))(index); },
      const_cast<Body*>(&body));
}

// body(row) for every row, cut into chunks of about `grain` tokens. Small batches stay on the caller.
template <class Body>
inline void parallelRows(const Rows& rows, int64_t grain, const Body& body) {
  const int64_t chunks = rows.total() / grain + 1;
  if (chunks <= 1 || rows.count <= 1) {
    for (int64_t row = 0; row < rows.count; row++) body(row);
    return;
  }
  const int64_t pieces = smaller(chunks, rows.count);
  parallel(pieces, [&](int64_t piece) {
    const int64_t first = rows.count * piece / pieces, last = rows.count * (piece + 1) / pieces;
    for (int64_t row = first; row < last; row++) body(row);
  });
}

inline bool trained(const uint8_t* mask, int64_t index) { return mask == nullptr || mask[index] != 0; }

}  // namespace MINFORM_ISA
}  // namespace minform
