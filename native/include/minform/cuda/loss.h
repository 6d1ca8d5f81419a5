// Losses on the device: the contracts of minform/loss.h with every pointer, the offsets, the aggregation's arrays and
// the slots included, on the device. `tokens` is offsets[count], the length of the token arrays. The first bad element
// is reported in `status` as on the CPU (kBadPromptTokens - row, or a token's flat index); outputs are then
// unspecified.
//
// Agreement with the CPU kernels: the same blocks of counted tokens, the same lanes, folded in the same order, so bits
// differ only where the C library's float64 exp and expm1 do. Gradients, values, weights and slots are within 1e-13
// (float64) or 1e-7 (float32) in norm ratio. Statistics of clamped tokens (kPolicyRaw*, kKlRaw*) are summed in another
// order: within 1e-12.
#pragma once

#include "minform/cuda/runtime.h"
#include "minform/loss.h"

namespace minform::cuda {

template <class T>
void lossPolicy(const PolicyParameters& parameters, const PolicyInput<T>& in, int64_t tokens,
                const Aggregation& aggregation, T* gradLogProbs, double* slots, int64_t* status, Stream stream);

template <class T>
void lossKl(const KlInput<T>& in, int64_t tokens, const Aggregation& aggregation, T* values, T* gradLogProbs,
            double* slots, int64_t* status, Stream stream);

template <class T>
void lossValue(const ValueInput<T>& in, int64_t tokens, const Aggregation& aggregation, T* gradValues, double* slots,
               int64_t* status, Stream stream);

template <class T>
void lossEntropy(const Rows& rows, int64_t tokens, const T* entropy, const uint8_t* mask,
                 const Aggregation& aggregation, T* gradEntropy, double* slots, int64_t* status, Stream stream);

template <class T>
void lossImportanceWeights(const WeightInput<T>& in, int64_t tokens, T* weights, uint8_t* kept, double* slots,
                           int64_t* status, Stream stream);

}  // namespace minform::cuda
