// Element types as they lie in memory, and 16-byte packs of them. Widening is exact; narrowing rounds to nearest, ties
// to even.
#pragma once

#include <cmath>

#include "arithmetic/half.h"
#include "kernel.h"

namespace minform::cuda {

struct Bfloat16 {
  uint16_t bits;
};
struct Float16 {
  uint16_t bits;
};

// The type that arithmetic on an element is done in.
template <class Element>
struct WideOf {
  using type = float;
};
template <>
struct WideOf<double> {
  using type = double;
};
template <class Element>
using Wide = typename WideOf<Element>::type;

__device__ __forceinline__ float widen(float x) { return x; }
__device__ __forceinline__ double widen(double x) { return x; }
__device__ __forceinline__ float widen(Bfloat16 x) { return floatFromBfloat16(x.bits); }
__device__ __forceinline__ float widen(Float16 x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(x.bits));
  return result;
#else
  return floatFromFloat16(x.bits);
#endif
}

__device__ __forceinline__ void narrow(float from, float& to) { to = from; }
__device__ __forceinline__ void narrow(double from, float& to) { to = static_cast<float>(from); }
__device__ __forceinline__ void narrow(double from, double& to) { to = from; }
__device__ __forceinline__ void narrow(float from, Bfloat16& to) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(to.bits) : "f"(from));
#else
  to.bits = bfloat16FromFloat(from);
#endif
}
__device__ __forceinline__ void narrow(float from, Float16& to) {
#if defined(__CUDA_ARCH__)
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to.bits) : "f"(from));
#else
  to.bits = float16FromFloat(from);
#endif
}
__device__ __forceinline__ void narrow(double from, Bfloat16& to) { narrow(static_cast<float>(from), to); }
__device__ __forceinline__ void narrow(double from, Float16& to) { narrow(static_cast<float>(from), to); }

// -Infinity in the element's type.
template <class Element>
__device__ __forceinline__ Element lowest() {
  return static_cast<Element>(-HUGE_VALF);
}
template <>
__device__ __forceinline__ Bfloat16 lowest<Bfloat16>() {
  return {0xFF80};
}
template <>
__device__ __forceinline__ Float16 lowest<Float16>() {
  return {0xFC00};
}

// As many elements as one 16-byte access moves.
template <class Element>
struct alignas(16) Pack {
  static constexpr int kSize = 16 / sizeof(Element);
  Element at[kSize];
};

// Elements [index, index + kSize) of an array that ends at `end`; what lies beyond is `filler`. `aligned` says that
// `index` is on 16 bytes. Which elements a thread sees never depends on it, and so neither do the bits of its sums.
template <class Element>
__device__ __forceinline__ Pack<Element> readPack(const Global<const Element>& from, int64_t index, int64_t end,
                                                  bool aligned, Element filler) {
  constexpr int kSize = Pack<Element>::kSize;
  if (aligned && index + kSize <= end) return loadAs<Pack<Element>, Element>(from, index);
  Pack<Element> pack;
#pragma unroll
  for (int i = 0; i < kSize; i++) {
    if (index + i < end) {
      pack.at[i] = from[index + i];
    } else {
      pack.at[i] = filler;
    }
  }
  return pack;
}

template <class Element>
__device__ __forceinline__ void writePack(const Global<Element>& to, int64_t index, int64_t end, bool aligned,
                                          const Pack<Element>& pack) {
  constexpr int kSize = Pack<Element>::kSize;
  if (aligned && index + kSize <= end) {
    storeAs<Pack<Element>, Element>(to, index, pack);
    return;
  }
#pragma unroll
  for (int i = 0; i < kSize; i++) {
    if (index + i < end) to[index + i] = pack.at[i];
  }
}

}  // namespace minform::cuda
