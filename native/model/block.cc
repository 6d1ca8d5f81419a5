#include "block.h"

#include <cstring>

#include "projection.h"

namespace minform {

namespace {

template <class T>
NormShape rowNorm(const LayerContext<T>& c) {
  return {c.rows, 1, c.shape.hidden, c.shape.hidden, c.shape.normEpsilon};
}

template <class T>
NormShape headNorm(const LayerContext<T>& c, int64_t heads) {
  return {c.rows, heads, c.shape.heads.headDim, c.shape.heads.width(), c.shape.normEpsilon};
}

template <class T>
void headNorms(const LayerContext<T>& c, const LayerActivations<T>& a) {
  const HeadShape& heads = c.shape.heads;
  const int64_t queries = heads.queries(), rotated = queries + heads.keys(), width = heads.width();
  const auto& kernels = modelKernels<T>();
  kernels.rmsNorm(headNorm(c, heads.heads), a.projected, c.parameters.queryNorm.weight, a.qkv, a.queryInverse);
  kernels.rmsNorm(headNorm(c, heads.kvHeads), a.projected + queries, c.parameters.keyNorm.weight, a.qkv + queries,
                  a.keyInverse);
  for (int64_t row = 0; row < c.rows; row++) {
    std::memcpy(a.qkv + row * width + rotated, a.projected + row * width + rotated,
                static_cast<size_t>(heads.keys()) * sizeof(T));
  }
}

template <class T>
void headNormsBackward(const LayerContext<T>& c, const LayerActivations<T>& a, T* d) {
  const HeadShape& heads = c.shape.heads;
  const int64_t queries = heads.queries();
  const auto& [query, key] = std::pair(c.parameters.queryNorm, c.parameters.keyNorm);
  const auto& kernels = modelKernels<T>();
  kernels.rmsNormBackward(headNorm(c, heads.heads), d, a.projected, query.weight, a.queryInverse, false, d, query.grad);
  kernels.rmsNormBackward(headNorm(c, heads.kvHeads), d + queries, a.projected + queries, key.weight, a.keyInverse,
                          false, d + queries, key.grad);
}

template <class T>
void rotateHeads(const LayerContext<T>& c, T* qkv, bool back) {
  const HeadShape& heads = c.shape.heads;
  modelKernels<T>().rotate(qkv, c.rows, heads.width(), heads.heads + heads.kvHeads, heads.headDim, c.positions,
                           c.rotation, back);
}

template <class T>
void mlpBackward(const LayerContext<T>& c, const LayerActivations<T>& a, T* d) {
  const auto& kernels = modelKernels<T>();
  const Scope scope(c.arena);
  const int64_t inner = c.shape.inner;
  T* activated = c.arena.template take<T>(c.rows * inner);
  T* dActivated = c.arena.template take<T>(c.rows * inner);
  T* dGateUp = c.arena.template take<T>(c.rows * 2 * inner);
  T* normed = c.arena.template take<T>(c.rows * c.shape.hidden);
  kernels.swiGlu(a.gateUp, c.rows, inner, activated);
  projectBackward(c.arena, c.parameters.down, activated, d, c.rows, dActivated);
  kernels.swiGluBackward(a.gateUp, dActivated, c.rows, inner, dGateUp);
  kernels.rmsNorm(rowNorm(c), a.middle, c.parameters.mlpNorm.weight, normed, nullptr);
  T* dNormed = dActivated;
  if (c.shape.hidden > inner) dNormed = c.arena.template take<T>(c.rows * c.shape.hidden);
  projectBackward(c.arena, c.parameters.gateUp, normed, dGateUp, c.rows, dNormed);
  kernels.rmsNormBackward(rowNorm(c), dNormed, a.middle, c.parameters.mlpNorm.weight, a.middleInverse, true, d,
                          c.parameters.mlpNorm.grad);
}

}  // namespace

template <class T>
LayerActivations<T> LayerActivations<T>::take(Arena& arena, const ModelShape& shape, int64_t rows) {
  LayerActivations<T> a{};
  a.inverse = arena.take<T>(rows);
  a.qkv = arena.take<T>(rows * shape.heads.width());
  a.projected = shape.headNorms ? arena.take<T>(rows * shape.heads.width()) : a.qkv;
  if (shape.headNorms) {
    a.queryInverse = arena.take<T>(rows * shape.heads.heads);
    a.keyInverse = arena.take<T>(rows * shape.heads.kvHeads);
  }
  a.logSum = arena.take<T>(rows * shape.heads.heads);
  a.attended = arena.take<T>(rows * shape.heads.queries());
  a.middle = arena.take<T>(rows * shape.hidden);
  a.middleInverse = arena.take<T>(rows);
  a.gateUp = arena.take<T>(rows * 2 * shape.inner);
  return a;
}

template <class T>
void layerForward(const LayerContext<T>& c, const Attend<T>& attend, LayerActivations<T>& a, T* out) {
  const auto& kernels = modelKernels<T>();
  const Scope scope(c.arena);
  T* normed = c.arena.template take<T>(c.rows * c.shape.hidden);
  T* activated = c.arena.template take<T>(c.rows * c.shape.inner);
  kernels.rmsNorm(rowNorm(c), a.x, c.parameters.attentionNorm.weight, normed, a.inverse);
  project<T>(c.arena, c.parameters.qkv, normed, c.rows, nullptr, a.projected);
  if (c.shape.headNorms) headNorms(c, a);
  rotateHeads(c, a.qkv, false);
  attend(a.qkv, a.attended, a.logSum);
  project(c.arena, c.parameters.output, a.attended, c.rows, a.x, a.middle);
  kernels.rmsNorm(rowNorm(c), a.middle, c.parameters.mlpNorm.weight, normed, a.middleInverse);
  project<T>(c.arena, c.parameters.gateUp, normed, c.rows, nullptr, a.gateUp);
  kernels.swiGlu(a.gateUp, c.rows, c.shape.inner, activated);
  project<T>(c.arena, c.parameters.down, activated, c.rows, a.middle, out);
}

template <class T>
void layerBackward(const LayerContext<T>& c, const Rows& sequences, int64_t window, const LayerActivations<T>& a,
                   T* d) {
  const auto& kernels = modelKernels<T>();
  mlpBackward(c, a, d);
  const Scope scope(c.arena);
  T* dAttended = c.arena.template take<T>(c.rows * c.shape.heads.queries());
  T* dQkv = c.arena.template take<T>(c.rows * c.shape.heads.width());
  T* normed = c.arena.template take<T>(c.rows * c.shape.hidden);
  T* dNormed = c.arena.template take<T>(c.rows * c.shape.hidden);
  projectBackward(c.arena, c.parameters.output, a.attended, d, c.rows, dAttended);
  kernels.attentionBackward(c.shape.heads, sequences, window, a.qkv, a.attended, a.logSum, dAttended, dQkv);
  rotateHeads(c, dQkv, true);
  if (c.shape.headNorms) headNormsBackward(c, a, dQkv);
  kernels.rmsNorm(rowNorm(c), a.x, c.parameters.attentionNorm.weight, normed, nullptr);
  projectBackward(c.arena, c.parameters.qkv, normed, dQkv, c.rows, dNormed);
  kernels.rmsNormBackward(rowNorm(c), dNormed, a.x, c.parameters.attentionNorm.weight, a.inverse, true, d,
                          c.parameters.attentionNorm.grad);
}

#define MINFORM_INSTANTIATE(T)                                                                    \
  template struct LayerActivations<T>;                                                            \
  template void layerForward(const LayerContext<T>&, const Attend<T>&, LayerActivations<T>&, T*); \
  template void layerBackward(const LayerContext<T>&, const Rows&, int64_t, const LayerActivations<T>&, T*);
MINFORM_INSTANTIATE(float)
MINFORM_INSTANTIATE(double)
#undef MINFORM_INSTANTIATE

}  // namespace minform
