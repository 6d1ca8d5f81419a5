// The global gradient norm over tensors: the sums of squares of the optimiser's kernels, once more in another unit
// where they leave float64.
#include <cmath>

#include "minform/optim.h"

namespace minform {

namespace {

template <class T>
double squaresOf(const T* const* grads, const int64_t* counts, int64_t tensors, double scale) {
  double sum = 0;
  for (int64_t i = 0; i < tensors; i++) sum += optim<T>().sumOfSquares(grads[i], counts[i], scale);
  return sum;
}

// Of sums that are zero, out of range, or not numbers: in units of a power of two near the largest magnitude.
template <class T>
double scaledNorm(const T* const* grads, const int64_t* counts, int64_t tensors, int64_t* status) {
  double largest = 0;
  bool bad = false;
  for (int64_t i = 0; i < tensors; i++) {
    largest = std::fmax(largest, optim<T>().largestMagnitude(grads[i], counts[i], &status[i]));
    bad = bad || status[i] != kOk;
  }
  if (bad) return NAN;
  if (largest == 0) return 0;
  const int exponent = std::ilogb(largest);
  const double scale = std::ldexp(1.0, exponent < -1022 ? -1022 : exponent);
  const double norm = std::sqrt(squaresOf(grads, counts, tensors, scale)) * scale;
  return std::isinf(norm) ? NAN : norm;
}

}  // namespace

template <class T>
GradNorm gradNorm(const T* const* grads, const int64_t* counts, int64_t tensors, double maxNorm, int64_t* status) {
  for (int64_t i = 0; i < tensors; i++) status[i] = kOk;
  const double plain = squaresOf(grads, counts, tensors, 1);
  const bool inRange = plain >= 1e-280 && plain < HUGE_VAL;
  const double norm = inRange ? std::sqrt(plain) : scaledNorm(grads, counts, tensors, status);
  // torch.nn.utils.clip_grad_norm_ adds 1e-6 to the norm.
  return {norm, std::isnan(norm) ? 1 : std::fmin(1, maxNorm / (norm + 1e-6))};
}

template GradNorm gradNorm(const float* const*, const int64_t*, int64_t, double, int64_t*);
template GradNorm gradNorm(const double* const*, const int64_t*, int64_t, double, int64_t*);

}  // namespace minform
