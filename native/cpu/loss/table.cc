// The family's kernel table.
#include "lanes.h"
#include "minform/loss.h"

namespace minform {
namespace MINFORM_ISA {

template <class T>
int64_t policy(const PolicyParameters&, const PolicyInput<T>&, const Aggregation&, T*, double*);
template <class T>
int64_t kl(const KlInput<T>&, const Aggregation&, T*, T*, double*);
template <class T>
int64_t value(const ValueInput<T>&, const Aggregation&, T*, double*);
template <class T>
int64_t entropy(const Rows&, const T*, const uint8_t*, const Aggregation&, T*, double*);
template <class T>
int64_t importanceWeights(const WeightInput<T>&, T*, uint8_t*, double*);

template <class T>
static void fill(LossKernels<T>& kernels) {
  kernels.policy = policy<T>;
  kernels.kl = kl<T>;
  kernels.value = value<T>;
  kernels.entropy = entropy<T>;
  kernels.importanceWeights = importanceWeights<T>;
}
void lossTable(LossKernels<float>& kernels) { fill(kernels); }
void lossTable(LossKernels<double>& kernels) { fill(kernels); }

}  // namespace MINFORM_ISA
}  // namespace minform
