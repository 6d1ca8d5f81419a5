// Log-probability of a target token, entropy and logsumexp over the vocabulary, from logits or straight from hidden
// states, with their gradients. Rows are token positions, columns the vocabulary; z is logits / temperature.
//
// Arithmetic for float32, bfloat16 and float16 logits (T = float): exp in float32 on z - max, at most 8 terms added in
// float32 before they are folded into float64; maxima, merges, logarithms and the target's own term are float64. Every
// result is within 1e-6 * max(1, |value|) of the exact one on the logits as stored. T = double is float64 throughout
// with the C library's exp.
//
// A row is cut into fixed segments that merge in order: its bits depend on its own values only, not on the batch,
// the number of threads or the instruction set. (Exception: the products behind linear* use fused multiply-add where
// the instruction set has it; there the levels agree within the bound stated in cpu/gemm/gemm.h.)
#pragma once

#include <cstdint>

#include "minform/matrix.h"
#include "minform/pool.h"
#include "minform/ragged.h"

namespace minform {

template <class T>
struct LogProbOutput {
  T* logProbs;         // per row: z_y - logSumExp; -Infinity for a logit of -Infinity
  T* entropy;          // per row, or null
  T* sumSquaredProbs;  // per row, or null
  double* logSumExp;   // per row, of z; float64 for every T, since it carries the offset of the logits
};

// What the backward pass starts from.
template <class T>
struct LogProbGradients {
  const double* logSumExp;
  const T* entropy;       // from the forward pass; null when gradEntropy is
  const T* gradLogProbs;  // per row, finite
  const T* gradEntropy;   // per row, finite, or null
};

struct LinearInput {
  Matrix hidden;     // [rows, width]
  Matrix weight;     // [vocabulary, width]
  const void* bias;  // [vocabulary], or null
  Element biasElement;
};

// hidden, weight and bias gradients are of type T, whatever the inputs are stored in.
template <class T>
struct LinearGradients {
  T* hidden;
  T* weight;
  T* bias;          // or null
  bool accumulate;  // weight and bias gradients are added to what is there
};

// All return kOk, the first row without a defined result (a NaN or +Infinity logit, or only -Infinity ones), or any
// value once `cancelled` is set; the output is then unspecified. Targets must be in [0, vocabulary).
template <class T>
struct LogProbKernels {
  int64_t (*forward)(const Matrix& logits, const int32_t* targets, double temperature, const LogProbOutput<T>& out,
                     const CancelFlag& cancelled);

  // Writes d / d logits in the element type of the logits; gradLogits may be logits.data itself. Exactly +0 where a
  // logit is -Infinity. Also reports the first row whose gradients are not finite, or whose logSumExp is not that of
  // these logits at this temperature (the probabilities miss a sum of 1 by more than 1e-2).
  int64_t (*backward)(const Matrix& logits, const int32_t* targets, double temperature, const LogProbGradients<T>& in,
                      void* gradLogits, const CancelFlag& cancelled);

  // As forward on hidden * weight^T + bias, without ever holding those logits.
  int64_t (*linearForward)(const LinearInput& in, const int32_t* targets, double temperature,
                           const LogProbOutput<T>& out, const CancelFlag& cancelled);

  int64_t (*linearBackward)(const LinearInput& in, const int32_t* targets, double temperature,
                            const LogProbGradients<T>& grads, const LinearGradients<T>& out,
                            const CancelFlag& cancelled);
};

template <class T>
const LogProbKernels<T>& logprob();

}  // namespace minform
