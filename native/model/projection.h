// Linear layers with bias, residual and low-rank adapters, forwards and backwards.
#pragma once

#include "arena.h"
#include "minform/model.h"

namespace minform {

// y = (residual +) x W^T + b, and the adapters' share.
template <class T>
void project(Arena& arena, const Projection<T>& projection, const T* x, int64_t rows, const T* residual, T* y);

// Adds to the gradients of the parameters; dx (or null) = gradient of x.
template <class T>
void projectBackward(Arena& arena, const Projection<T>& projection, const T* x, const T* dy, int64_t rows, T* dx);

}  // namespace minform
