// The AdamW step and the global gradient norm, over flat arrays.
//
// Arithmetic: AdamW works in T; the bias corrections and every other scalar of the step are computed in float64 and
// rounded to T once. Norms accumulate in float64 over blocks of a fixed size that are folded in index order, so they
// have the same bits for every thread count and ISA level.
#pragma once

#include <cstdint>

#include "minform/ragged.h"

namespace minform {

struct AdamWOptions {
  int64_t step;  // counts from 1
  double learningRate;
  double beta1, beta2;  // in [0, 1)
  double epsilon;       // > 0
  double weightDecay;
  double gradScale;  // multiplies every gradient before use
};

// One parameter tensor; the four arrays have `count` elements and do not overlap.
template <class T>
struct AdamWTensor {
  T* params;
  const T* grads;
  T* firstMoments;
  T* secondMoments;
  int64_t count;
};

template <class T>
struct OptimKernels {
  // First gradient that is NaN or infinite, or whose square is infinite in T, after multiplication by gradScale.
  int64_t (*firstUnusable)(const T* grads, int64_t count, double gradScale);

  // Updates params and moments in place. Returns the first index whose new parameter or second moment is not finite
  // (the pass is complete all the same), or kOk.
  int64_t (*adamW)(const AdamWTensor<T>& tensor, const AdamWOptions& options);

  // sum (x / scale)^2. With scale 1 it may overflow or underflow for float64; NaN and infinities come through.
  double (*sumOfSquares)(const T* values, int64_t count, double scale);

  // Largest |x|, or the index of the first NaN or infinity in *bad (else kOk).
  double (*largestMagnitude)(const T* values, int64_t count, int64_t* bad);

  void (*scale)(T* values, int64_t count, double factor);
};

template <class T>
const OptimKernels<T>& optim();

struct GradNorm {
  double norm;   // NaN where a gradient is not finite or the norm is beyond float64
  double scale;  // min(1, maxNorm / (norm + 1e-6)); 1 where the norm is NaN
};

// Global L2 norm over `tensors` arrays, and the scale that brings it down to maxNorm. status[i]: the first NaN or
// infinity of tensor i, or kOk.
template <class T>
GradNorm gradNorm(const T* const* grads, const int64_t* counts, int64_t tensors, double maxNorm, int64_t* status);

}  // namespace minform
