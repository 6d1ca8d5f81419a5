#include "projection.h"

#include "minform/optim.h"

namespace minform {

namespace {

// scale * x down^T.
template <class T>
T* lowRank(Arena& arena, const Adapter<T>& adapter, const T* x, int64_t rows, int64_t inputs) {
  T* inner = arena.take<T>(rows * adapter.rank);
  modelKernels<T>().linear(x, rows, {adapter.down, adapter.rank, inputs, nullptr}, nullptr, 0, inner, adapter.rank);
  optim<T>().scale(inner, rows * adapter.rank, adapter.scale);
  return inner;
}

template <class T>
void addBias(const T* residual, const T* bias, int64_t rows, int64_t columns, T* y) {
  for (int64_t row = 0; row < rows; row++) {
    for (int64_t j = 0; j < columns; j++) y[row * columns + j] = residual[row * columns + j] + bias[j];
  }
}

}  // namespace

template <class T>
void project(Arena& arena, const Projection<T>& projection, const T* x, int64_t rows, const T* residual, T* y) {
  const int64_t outputs = projection.weight.outputs;
  const T* start = residual == nullptr ? projection.bias : residual;
  if (residual != nullptr && projection.bias != nullptr) {
    addBias(residual, projection.bias, rows, outputs, y);
    start = y;
  }
  modelKernels<T>().linear(x, rows, projection.weight, start, residual == nullptr ? 0 : outputs, y, outputs);
  for (const Adapter<T>& adapter : projection.adapters) {
    const Scope scope(arena);
    T* inner = lowRank(arena, adapter, x, rows, projection.weight.inputs);
    T* to = y + adapter.firstOutput;
    modelKernels<T>().linear(inner, rows, {adapter.up, adapter.outputs, adapter.rank, nullptr}, to, outputs, to,
                             outputs);
  }
}

template <class T>
void projectBackward(Arena& arena, const Projection<T>& projection, const T* x, const T* dy, int64_t rows, T* dx) {
  const auto& kernels = modelKernels<T>();
  const int64_t outputs = projection.weight.outputs, inputs = projection.weight.inputs;
  if (projection.gradWeight != nullptr)
    kernels.linearWeightGradient(dy, outputs, x, rows, outputs, inputs, projection.gradWeight);
  if (projection.gradBias != nullptr) kernels.addColumnSums(dy, rows, outputs, projection.gradBias);
  if (dx != nullptr) kernels.linearInputGradient(dy, outputs, rows, projection.weight, false, dx);
  for (const Adapter<T>& adapter : projection.adapters) {
    const Scope scope(arena);
    const T* from = dy + adapter.firstOutput;
    const T* inner = lowRank(arena, adapter, x, rows, inputs);
    kernels.linearWeightGradient(from, outputs, inner, rows, adapter.outputs, adapter.rank, adapter.gradUp);
    T* dInner = arena.take<T>(rows * adapter.rank);
    kernels.linearInputGradient(from, outputs, rows, {adapter.up, adapter.outputs, adapter.rank, nullptr}, false,
                                dInner);
    optim<T>().scale(dInner, rows * adapter.rank, adapter.scale);
    kernels.linearWeightGradient(dInner, adapter.rank, x, rows, adapter.rank, inputs, adapter.gradDown);
    if (dx == nullptr) continue;
    kernels.linearInputGradient(dInner, adapter.rank, rows, {adapter.down, adapter.rank, inputs, nullptr}, true, dx);
  }
}

#define MINFORM_INSTANTIATE(T)                                                          \
  template void project(Arena&, const Projection<T>&, const T*, int64_t, const T*, T*); \
  template void projectBackward(Arena&, const Projection<T>&, const T*, const T*, int64_t, T*);
MINFORM_INSTANTIATE(float)
MINFORM_INSTANTIATE(double)
#undef MINFORM_INSTANTIATE

}  // namespace minform
