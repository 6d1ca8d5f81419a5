// The kernel table of the ISA level.
#include "gemm/gemm.h"
#include "model/family.h"

namespace minform {
namespace MINFORM_ISA {

template <class T>
int64_t linearPackedElements(int64_t, int64_t);
template <class T>
void packLinear(const LinearWeight<T>&, T*);
template <class T>
void linear(const T*, int64_t, const LinearWeight<T>&, const T*, int64_t, T*, int64_t);
template <class T>
void linearInputGradient(const T*, int64_t, int64_t, const LinearWeight<T>&, bool, T*);
template <class T>
void linearWeightGradient(const T*, int64_t, const T*, int64_t, int64_t, int64_t, T*);
template <class T>
void addColumnSums(const T*, int64_t, int64_t, T*);
template <class T>
void rmsNorm(const NormShape&, const T*, const T*, T*, T*);
template <class T>
void rmsNormBackward(const NormShape&, const T*, const T*, const T*, const T*, bool, T*, T*);
template <class T>
void rotate(T*, int64_t, int64_t, int64_t, int64_t, const int32_t*, const Rotation<T>&, bool);
template <class T>
void attention(const HeadShape&, const Rows&, int64_t, const T*, T*, T*);
template <class T>
void attentionBackward(const HeadShape&, const Rows&, int64_t, const T*, const T*, const T*, const T*, T*);
template <class T>
int64_t cacheElements(const HeadShape&, int64_t);
template <class T>
void cacheStore(const HeadShape&, int64_t, const T*, const int32_t*, const CacheView<T>&);
template <class T>
void cachedAttention(const HeadShape&, int64_t, int64_t, const T*, const int32_t*, const CacheView<T>&, T*);
template <class T>
void swiGlu(const T*, int64_t, int64_t, T*);
template <class T>
void swiGluBackward(const T*, const T*, int64_t, int64_t, T*);
template <class T>
void relu(T*, int64_t);
template <class T>
void reluBackward(const T*, int64_t, T*);
template <class T>
void gatherRows(const T*, const int32_t*, int64_t, int64_t, T*);
template <class T>
void scatterAddRows(const T*, const int32_t*, int64_t, int64_t, T*);

template <class T>
static void fill(ModelKernels<T>& kernels) {
  kernels.panel = kPanel<T> > kLanes ? kPanel<T> : int64_t{kLanes};
  kernels.packedElements = linearPackedElements<T>;
  kernels.pack = packLinear<T>;
  kernels.linear = linear<T>;
  kernels.linearInputGradient = linearInputGradient<T>;
  kernels.linearWeightGradient = linearWeightGradient<T>;
  kernels.addColumnSums = addColumnSums<T>;
  kernels.rmsNorm = rmsNorm<T>;
  kernels.rmsNormBackward = rmsNormBackward<T>;
  kernels.rotate = rotate<T>;
  kernels.attention = attention<T>;
  kernels.attentionBackward = attentionBackward<T>;
  kernels.cacheElements = cacheElements<T>;
  kernels.cacheStore = cacheStore<T>;
  kernels.cachedAttention = cachedAttention<T>;
  kernels.swiGlu = swiGlu<T>;
  kernels.swiGluBackward = swiGluBackward<T>;
  kernels.relu = relu<T>;
  kernels.reluBackward = reluBackward<T>;
  kernels.gatherRows = gatherRows<T>;
  kernels.scatterAddRows = scatterAddRows<T>;
}
void modelKernelsTable(ModelKernels<float>& kernels) { fill(kernels); }
void modelKernelsTable(ModelKernels<double>& kernels) { fill(kernels); }

}  // namespace MINFORM_ISA
}  // namespace minform
