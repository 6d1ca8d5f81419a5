// An array whose element type is known at run time only, read as T.
#pragma once

#include "elements.h"
#include "minform/matrix.h"

namespace minform::cuda {

template <class T>
struct AnyElements {
  Global<const T> whole;
  Global<const Bfloat16> brains;
  Global<const Float16> halves;

  AnyElements(const void* data, Element element)
      : whole(element == Element::bfloat16 || element == Element::float16 ? nullptr : static_cast<const T*>(data)),
        brains(element == Element::bfloat16 ? static_cast<const Bfloat16*>(data) : nullptr),
        halves(element == Element::float16 ? static_cast<const Float16*>(data) : nullptr) {}

  __device__ __forceinline__ bool present() const { return whole != nullptr || brains != nullptr || halves != nullptr; }

  __device__ __forceinline__ T operator[](int64_t index) const {
    if (whole != nullptr) return whole[index];
    return brains != nullptr ? widen(brains[index]) : widen(halves[index]);
  }

  // As readPack, with zeros from `end` on; `packs` says that one of whole elements may be read at once.
  __device__ __forceinline__ Pack<T> pack(int64_t index, int64_t end, bool packs) const {
    if (whole != nullptr) return readPack(whole, index, end, packs, T(0));
    Pack<T> pack;
#pragma unroll
    for (int i = 0; i < Pack<T>::kSize; i++) pack.at[i] = index + i < end ? (*this)[index + i] : T(0);
    return pack;
  }
};

}  // namespace minform::cuda
