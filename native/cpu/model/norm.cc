// RMS norm: y = x r w, r = 1 / sqrt(mean(x^2) + epsilon). With g = dy w:
//   dx = r g - x r^3 mean(g x),   dw = sum over rows of dy x r.
#include "model/family.h"

namespace minform {
namespace MINFORM_ISA {

template <class T>
void rmsNorm(const NormShape& shape, const T* x, const T* weight, T* y, T* inverse) {
  const int64_t width = shape.width;
  parallelChunks(shape.tokens, shape.perToken * width, [&](int64_t first, int64_t last) {
    for (int64_t token = first; token < last; token++) {
      for (int64_t j = 0; j < shape.perToken; j++) {
        const T* from = x + token * shape.stride + j * width;
        T* to = y + token * shape.stride + j * width;
        const double meanSquare = dot(from, from, width) / static_cast<double>(width);
        const T r = static_cast<T>(1 / ::sqrt(meanSquare + shape.epsilon));
        if (inverse != nullptr) inverse[token * shape.perToken + j] = r;
        for (int64_t i = 0; i < width; i++) to[i] = from[i] * r * weight[i];
      }
    }
  });
}

namespace {

// Columns [first, first + count) of dWeight, over all rows in order.
template <class T>
void addWeightGradient(const NormShape& shape, const T* dy, const T* x, const T* inverse, int64_t first, int64_t count,
                       T* dWeight) {
  constexpr int64_t kMost = 32;
  double total[kMost] = {};
  for (int64_t token = 0; token < shape.tokens; token++) {
    for (int64_t j = 0; j < shape.perToken; j++) {
      const int64_t at = token * shape.stride + j * shape.width + first;
      const T r = inverse[token * shape.perToken + j];
      for (int64_t i = 0; i < count; i++) total[i] += dy[at + i] * (x[at + i] * r);
    }
  }
  for (int64_t i = 0; i < count; i++) dWeight[first + i] = static_cast<T>(dWeight[first + i] + total[i]);
}

}  // namespace

template <class T>
void rmsNormBackward(const NormShape& shape, const T* dy, const T* x, const T* weight, const T* inverse,
                     bool accumulate, T* dx, T* dWeight) {
  constexpr int64_t kColumns = 32;
  const int64_t width = shape.width;
  if (dWeight != nullptr) {
    parallel((width + kColumns - 1) / kColumns, [&](int64_t unit) {
      const int64_t first = unit * kColumns;
      addWeightGradient(shape, dy, x, inverse, first, smaller(kColumns, width - first), dWeight);
    });
  }
  parallelChunks(shape.tokens, shape.perToken * width, [&](int64_t first, int64_t last) {
    for (int64_t token = first; token < last; token++) {
      for (int64_t j = 0; j < shape.perToken; j++) {
        const int64_t at = token * shape.stride + j * width;
        double lanes[kLanes] = {};
        for (int64_t i = 0; i < width; i++) lanes[i % kLanes] += dy[at + i] * weight[i] * x[at + i];
        const T r = inverse[token * shape.perToken + j];
        const T back = static_cast<T>(foldLanes(lanes) / static_cast<double>(width)) * r * r * r;
        for (int64_t i = 0; i < width; i++) {
          const T gradient = r * (dy[at + i] * weight[i]) - x[at + i] * back;
          dx[at + i] = accumulate ? dx[at + i] + gradient : gradient;
        }
      }
    }
  });
}

#define MINFORM_INSTANTIATE(T)                                         \
  template void rmsNorm(const NormShape&, const T*, const T*, T*, T*); \
  template void rmsNormBackward(const NormShape&, const T*, const T*, const T*, const T*, bool, T*, T*);
MINFORM_INSTANTIATE(float)
MINFORM_INSTANTIATE(double)
#undef MINFORM_INSTANTIATE

}  // namespace MINFORM_ISA
}  // namespace minform
