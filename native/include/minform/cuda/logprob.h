// Token log-probs on the device: the contracts of minform/logprob.h with every pointer on the device. The first row
// without a defined result (forward: or with a target outside the vocabulary) is reported in `status`; outputs are then
// unspecified.
//
// Same arithmetic and bounds as on the CPU. A row's bits depend on its own values only: it is cut into fixed tiles that
// merge in order, whatever the batch and the alignment. Rows that start on 16 bytes are read 16 bytes at a time.
#pragma once

#include "minform/cuda/runtime.h"
#include "minform/logprob.h"

namespace minform::cuda {

template <class T>
void logProbForward(const Matrix& logits, const int32_t* targets, double temperature, const LogProbOutput<T>& out,
                    int64_t* status, Stream stream);

template <class T>
void logProbBackward(const Matrix& logits, const int32_t* targets, double temperature, const LogProbGradients<T>& in,
                     void* gradLogits, int64_t* status, Stream stream);

// The same from hidden states and the weight of the head, which may be of different element types. Logits exist in
// chunks only: scratch is under 256 MB whatever the sizes.
template <class T>
void logProbLinearForward(const LinearInput& in, const int32_t* targets, double temperature,
                          const LogProbOutput<T>& out, int64_t* status, Stream stream);

// Writes all gradients whole (they need not be cleared).
template <class T>
void logProbLinearBackward(const LinearInput& in, const int32_t* targets, double temperature,
                           const LogProbGradients<T>& grads, const LinearGradients<T>& out, int64_t* status,
                           Stream stream);

// Who multiplies matrices: cuBLASLt where it is found at run time, or always kernels of our own. Starts from the
// environment variable MINFORM_CUDA_PRODUCTS (own); for the whole process.
enum class Products : int32_t { library = 0, own = 1 };
void chooseProducts(Products products);
// The version of the cuBLASLt in use; 0 where our own kernels are.
int64_t productsLibraryVersion();

}  // namespace minform::cuda
