// Sums of squares and scaling for the global gradient norm.
#include "blocks.h"
#include "minform/optim.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

// Four accumulators per stream, as vectors: written as arrays, the compiler keeps them in memory.
typedef double Quad __attribute__((vector_size(32)));

template <class T>
inline void addSquares(const T* values, double inverse, Quad* sum) {
  typedef T Narrow __attribute__((vector_size(4 * sizeof(T))));
  Narrow narrow;
  __builtin_memcpy(&narrow, values, sizeof narrow);
  const Quad x = __builtin_convertvector(narrow, Quad) * inverse;
  *sum += x * x;
}

template <class T>
double blockSum(const T* values, int64_t count, double inverse) {
  Quad sums[kStreams] = {};
  const int64_t part = count / (4 * kStreams) * 4;
  for (int64_t i = 0; i < part; i += 4) {
    for (int stream = 0; stream < kStreams; stream++) addSquares(values + stream * part + i, inverse, &sums[stream]);
  }
  for (int stream = kStreams / 2; stream > 0; stream /= 2) {
    for (int k = 0; k < stream; k++) sums[k] += sums[k + stream];
  }
  double sum = (sums[0][0] + sums[0][2]) + (sums[0][1] + sums[0][3]);
  for (int64_t i = kStreams * part; i < count; i++) {
    const double x = static_cast<double>(values[i]) * inverse;
    sum += x * x;
  }
  return sum;
}

}  // namespace

template <class T>
double sumOfSquares(const T* values, int64_t count, double scale) {
  Scratch<double> sums(blockCount(count) + 1);
  parallelBlocks(count, [&](int64_t block, int64_t begin, int64_t end) {
    sums[block] = blockSum(values + begin, end - begin, 1.0 / scale);
  });
  double sum = 0;
  for (int64_t block = 0; block < blockCount(count); block++) sum += sums[block];
  return sum;
}

template <class T>
double largestMagnitude(const T* values, int64_t count, int64_t* bad) {
  *bad = kOk;
  double largest = 0;
  for (int64_t i = 0; i < count; i++) {
    const double magnitude = ::fabs(static_cast<double>(values[i]));
    if (isNaN(magnitude - magnitude)) {
      *bad = i;
      return magnitude;
    }
    largest = larger(largest, magnitude);
  }
  return largest;
}

template <class T>
void scale(T* values, int64_t count, double factor) {
  parallelBlocks(count, [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) values[i] = static_cast<T>(values[i] * factor);
  });
}

template double sumOfSquares(const float*, int64_t, double);
template double sumOfSquares(const double*, int64_t, double);
template double largestMagnitude(const float*, int64_t, int64_t*);
template double largestMagnitude(const double*, int64_t, int64_t*);
template void scale(float*, int64_t, double);
template void scale(double*, int64_t, double);

}  // namespace MINFORM_ISA
}  // namespace minform
