// The elementwise parts of the MLP and of two-layer heads.
#include "model/family.h"

namespace minform {
namespace MINFORM_ISA {

template <class T>
void swiGlu(const T* gateUp, int64_t rows, int64_t inner, T* out) {
  parallelChunks(rows, inner, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; row++) {
      const T *gate = gateUp + row * 2 * inner, *up = gate + inner;
      T* to = out + row * inner;
      for (int64_t i = 0; i < inner; i++) to[i] = gate[i] / (T(1) + expOf(-gate[i])) * up[i];
    }
  });
}

// With s = sigmoid(g): d silu(g) = s (1 + g (1 - s)).
template <class T>
void swiGluBackward(const T* gateUp, const T* dOut, int64_t rows, int64_t inner, T* dGateUp) {
  parallelChunks(rows, inner, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; row++) {
      const T *gate = gateUp + row * 2 * inner, *up = gate + inner, *d = dOut + row * inner;
      T *dGate = dGateUp + row * 2 * inner, *dUp = dGate + inner;
      for (int64_t i = 0; i < inner; i++) {
        const T s = T(1) / (T(1) + expOf(-gate[i])), g = gate[i];
        dGate[i] = d[i] * up[i] * s * (T(1) + g * (T(1) - s));
        dUp[i] = d[i] * (g * s);
      }
    }
  });
}

template <class T>
void relu(T* x, int64_t count) {
  for (int64_t i = 0; i < count; i++) x[i] = larger(x[i], T(0));
}

template <class T>
void reluBackward(const T* y, int64_t count, T* dx) {
  for (int64_t i = 0; i < count; i++) dx[i] = y[i] > T(0) ? dx[i] : T(0);
}

#define MINFORM_INSTANTIATE(T)                                            \
  template void swiGlu(const T*, int64_t, int64_t, T*);                   \
  template void swiGluBackward(const T*, const T*, int64_t, int64_t, T*); \
  template void relu(T*, int64_t);                                        \
  template void reluBackward(const T*, int64_t, T*);
MINFORM_INSTANTIATE(float)
MINFORM_INSTANTIATE(double)
#undef MINFORM_INSTANTIATE

}  // namespace MINFORM_ISA
}  // namespace minform
