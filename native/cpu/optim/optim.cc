// The kernel table of the family.
#include "minform/optim.h"

#include "lanes.h"

namespace minform {
namespace MINFORM_ISA {

template <class T>
int64_t firstUnusable(const T*, int64_t, double);
template <class T>
int64_t adamW(const AdamWTensor<T>&, const AdamWOptions&);
template <class T>
double sumOfSquares(const T*, int64_t, double);
template <class T>
double largestMagnitude(const T*, int64_t, int64_t*);
template <class T>
void scale(T*, int64_t, double);

template <class T>
static void fill(OptimKernels<T>& kernels) {
  kernels.firstUnusable = firstUnusable<T>;
  kernels.adamW = adamW<T>;
  kernels.sumOfSquares = sumOfSquares<T>;
  kernels.largestMagnitude = largestMagnitude<T>;
  kernels.scale = scale<T>;
}
void optimTable(OptimKernels<float>& kernels) { fill(kernels); }
void optimTable(OptimKernels<double>& kernels) { fill(kernels); }

}  // namespace MINFORM_ISA
}  // namespace minform
