// Rotary positions: dimension i of the first half of a head turns with dimension i of the second. The backward pass
// turns the other way.
#include "model/family.h"

namespace minform {
namespace MINFORM_ISA {

template <class T>
void rotate(T* tokens, int64_t count, int64_t stride, int64_t heads, int64_t headDim, const int32_t* positions,
            const Rotation<T>& rotation, bool back) {
  const int64_t half = headDim / 2;
  const T sign = back ? T(-1) : T(1);
  parallelChunks(count, heads * headDim, [&](int64_t begin, int64_t end) {
    for (int64_t token = begin; token < end; token++) {
      const T* cos = rotation.cos + positions[token] * half;
      const T* sin = rotation.sin + positions[token] * half;
      for (int64_t head = 0; head < heads; head++) {
        T* first = tokens + token * stride + head * headDim;
        T* second = first + half;
        for (int64_t i = 0; i < half; i++) {
          const T a = first[i], b = second[i], s = sin[i] * sign;
          first[i] = a * cos[i] - b * s;
          second[i] = b * cos[i] + a * s;
        }
      }
    }
  });
}

template void rotate(float*, int64_t, int64_t, int64_t, int64_t, const int32_t*, const Rotation<float>&, bool);
template void rotate(double*, int64_t, int64_t, int64_t, int64_t, const int32_t*, const Rotation<double>&, bool);

}  // namespace MINFORM_ISA
}  // namespace minform
