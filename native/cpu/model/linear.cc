// Linear layers y = x W^T and their gradients.
#include "gemm/product.h"
#include "model/family.h"

namespace minform {
namespace MINFORM_ISA {

template <class T>
int64_t linearPackedElements(int64_t outputs, int64_t inputs) {
  return packedElements<T>(inputs, outputs);
}

template <class T>
void packLinear(const LinearWeight<T>& weight, T* packed) {
  packRight<T>({weight.data, weight.inputs, true}, weight.inputs, weight.outputs, packed);
}

template <class T>
void linear(const T* x, int64_t rows, const LinearWeight<T>& weight, const T* start, int64_t startStride, T* y,
            int64_t yStride) {
  const Product<T> product{rows, weight.outputs, weight.inputs, {x, weight.inputs, false}, start, startStride,
                           y,    yStride};
  if (weight.packed != nullptr) {
    multiplyPacked(product, weight.packed);
  } else {
    multiply(product, {weight.data, weight.inputs, true});
  }
}

template <class T>
void linearInputGradient(const T* dy, int64_t dyStride, int64_t rows, const LinearWeight<T>& weight, bool accumulate,
                         T* dx) {
  multiply<T>({rows,
               weight.inputs,
               weight.outputs,
               {dy, dyStride, false},
               accumulate ? dx : nullptr,
               weight.inputs,
               dx,
               weight.inputs},
              {weight.data, weight.inputs, false});
}

template <class T>
void linearWeightGradient(const T* dy, int64_t dyStride, const T* x, int64_t rows, int64_t outputs, int64_t inputs,
                          T* dw) {
  multiply<T>({outputs, inputs, rows, {dy, dyStride, true}, dw, inputs, dw, inputs}, {x, inputs, false});
}

template <class T>
void addColumnSums(const T* values, int64_t rows, int64_t columns, T* sums) {
  constexpr int64_t kEach = 32;
  parallel((columns + kEach - 1) / kEach, [&](int64_t unit) {
    const int64_t first = unit * kEach, count = smaller(kEach, columns - first);
    double total[kEach] = {};
    for (int64_t row = 0; row < rows; row++) {
      const T* from = values + row * columns + first;
      for (int64_t j = 0; j < count; j++) total[j] += from[j];
    }
    for (int64_t j = 0; j < count; j++) sums[first + j] = static_cast<T>(sums[first + j] + total[j]);
  });
}

#define MINFORM_INSTANTIATE(T)                                                                     \
  template int64_t linearPackedElements<T>(int64_t, int64_t);                                      \
  template void packLinear(const LinearWeight<T>&, T*);                                            \
  template void linear(const T*, int64_t, const LinearWeight<T>&, const T*, int64_t, T*, int64_t); \
  template void linearInputGradient(const T*, int64_t, int64_t, const LinearWeight<T>&, bool, T*); \
  template void linearWeightGradient(const T*, int64_t, const T*, int64_t, int64_t, int64_t, T*);  \
  template void addColumnSums(const T*, int64_t, int64_t, T*);
MINFORM_INSTANTIATE(float)
MINFORM_INSTANTIATE(double)
#undef MINFORM_INSTANTIATE

}  // namespace MINFORM_ISA
}  // namespace minform
