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

}  // namespace minform::cuda
