// The kernel table of the ISA level.
#include "lanes.h"
#include "minform/logprob.h"

namespace minform {
namespace MINFORM_ISA {

template <class T>
int64_t forward(const Matrix&, const int32_t*, double, const LogProbOutput<T>&, const CancelFlag&);
template <class T>
int64_t backward(const Matrix&, const int32_t*, double, const LogProbGradients<T>&, void*, const CancelFlag&);
template <class T>
int64_t linearForward(const LinearInput&, const int32_t*, double, const LogProbOutput<T>&, const CancelFlag&);
template <class T>
int64_t linearBackward(const LinearInput&, const int32_t*, double, const LogProbGradients<T>&,
                       const LinearGradients<T>&, const CancelFlag&);

template <class T>
static void fill(LogProbKernels<T>& kernels) {
  kernels.forward = forward<T>;
  kernels.backward = backward<T>;
  kernels.linearForward = linearForward<T>;
  kernels.linearBackward = linearBackward<T>;
}
void logprobTable(LogProbKernels<float>& kernels) { fill(kernels); }
void logprobTable(LogProbKernels<double>& kernels) { fill(kernels); }

}  // namespace MINFORM_ISA
}  // namespace minform
