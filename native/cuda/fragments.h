// Warp-level matrix products on tensor cores (the wmma interface): 16 x 16 x 16 tiles of Float16 or Bfloat16,
// accumulated in float32. All 32 lanes of a warp call each function. Needs sm_80 for Bfloat16; older architectures
// trap.
#pragma once

#include "elements.h"

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#else
#include "simt/wmma.h"
#endif

namespace minform::cuda {

constexpr int kFragment = 16;  // rows and columns of a tile

#if defined(__CUDACC__)

namespace wmma = nvcuda::wmma;

template <class Element>
struct HardwareOf;
template <>
struct HardwareOf<Float16> {
  using type = __half;
};
template <>
struct HardwareOf<Bfloat16> {
  using type = __nv_bfloat16;
};
template <class Element>
using Hardware = typename HardwareOf<Element>::type;

template <class Element>
__device__ __forceinline__ const Hardware<Element>* hardwarePointer(const Element* data) {
  return reinterpret_cast<const Hardware<Element>*>(data);
}

#else

namespace wmma = simt::wmma;

template <class Element>
using Hardware = Element;

template <class View>
View hardwarePointer(const View& view) {
  return view;
}

#endif

// A is [16 rows][16 inner], B is [16 inner][16 columns]; Layout is wmma::row_major or wmma::col_major.
template <class Element, class Layout>
using FragmentA = wmma::fragment<wmma::matrix_a, kFragment, kFragment, kFragment, Hardware<Element>, Layout>;
template <class Element, class Layout>
using FragmentB = wmma::fragment<wmma::matrix_b, kFragment, kFragment, kFragment, Hardware<Element>, Layout>;
using Accumulator = wmma::fragment<wmma::accumulator, kFragment, kFragment, kFragment, float>;

}  // namespace minform::cuda
