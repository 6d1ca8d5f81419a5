// Credit assignment on the device: the contracts of minform/credit.h with every pointer, the offsets included, on the
// device. A value that must be finite and is not has its flat index reported in `status`; outputs are then unspecified.
//
// Agreement with the CPU kernels: sums, differences and products run in the same order in float64; exp and pow are the
// device's. Results are within 1e-14 (float64) or 1e-7 (float32) in norm ratio.
#pragma once

#include "minform/credit.h"
#include "minform/cuda/runtime.h"

namespace minform::cuda {

template <class T>
void creditAssign(CreditForm form, const CreditInput<T>& in, const CreditOutput<T>& out, int64_t* status,
                  Stream stream);

template <class T>
void creditMinFormBackward(const CreditInput<T>& in, const CreditGradients<T>& grads, T* gradStepRewards,
                           int64_t* status, Stream stream);

template <class T>
void creditPlaceSteps(const Rows& tokens, const Rows& steps, const int32_t* stepEnds, const T* values, Place place,
                      const uint8_t* zeroAt, const uint8_t* mask, T* out, Stream stream);

template <class T>
void creditReturns(const Rows& tokens, const T* rewards, const uint8_t* mask, double gamma, T* out, int64_t* status,
                   Stream stream);

}  // namespace minform::cuda
