// The AdamW step and the global gradient norm on the device: the contracts of minform/optim.h with every pointer on the
// device. What decides about a step (a bad gradient, the scale that clips) stays there, so that a chain of calls waits
// for nothing.
//
// A guard is a word that holds back a step: the caller sets it to kOk (resetStatus) before the first tensor, every
// check that finds a bad gradient changes it, and optimAdamW writes nothing unless it is kOk.
//
// Agreement with the CPU kernels: AdamW and the norm have the same bits.
#pragma once

#include "minform/cuda/runtime.h"
#include "minform/optim.h"

namespace minform::cuda {

// Reports the first gradient that is NaN or infinite, or whose square is infinite in T, after multiplication by
// gradScale * *deviceScale.
template <class T>
void optimCheckGrads(const T* grads, int64_t count, double gradScale, const double* deviceScale, int64_t* status,
                     int64_t* guard, Stream stream);

// Every gradient is multiplied by options.gradScale * *deviceScale (null: 1), as a product in float64 rounded to T.
// Reports the first index whose new parameter or second moment is not finite; the pass is complete all the same.
template <class T>
void optimAdamW(const AdamWTensor<T>& tensor, const AdamWOptions& options, const double* deviceScale,
                const int64_t* guard, int64_t* status, Stream stream);

// gradNorm on the device; the tables grads and counts are on the host. A norm that is NaN changes the guard, if there
// is one.
template <class T>
void optimGradNorm(const T* const* grads, const int64_t* counts, int64_t tensors, double maxNorm, GradNorm* out,
                   int64_t* status, int64_t* guard, Stream stream);

// values *= *deviceScale, in float64, rounded once; nothing is written where it is 1.
template <class T>
void optimScale(T* values, int64_t count, const double* deviceScale, Stream stream);

}  // namespace minform::cuda
