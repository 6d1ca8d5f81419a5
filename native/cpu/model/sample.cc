// What sampling needs of a row of logits.
#include "model/family.h"

namespace minform {
namespace MINFORM_ISA {

template <class T>
void softmaxWeights(const T* logits, int64_t count, double temperature, T* out) {
  T max = logits[0];
  for (int64_t i = 1; i < count; i++) max = larger(max, logits[i]);
  const T inverse = static_cast<T>(1 / temperature);
  for (int64_t i = 0; i < count; i++) out[i] = expOf((logits[i] - max) * inverse);
}

template void softmaxWeights(const float*, int64_t, double, float*);
template void softmaxWeights(const double*, int64_t, double, double*);

}  // namespace MINFORM_ISA
}  // namespace minform
