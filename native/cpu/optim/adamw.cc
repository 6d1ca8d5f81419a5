// AdamW (arithmetic/adamw.h), one pass over parameters and moments.
#include "arithmetic/adamw.h"
#include "blocks.h"
#include "minform/optim.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

// Whether x is NaN or infinite, as bits that can be collected with |: integer reductions vectorise, float ones do not.
inline int32_t defect(float x) { return x - x == 0 ? 0 : 1; }
inline int64_t defect(double x) { return x - x == 0 ? 0 : 1; }

// Whether something is not finite afterwards.
template <class T>
bool updateBlock(const AdamWTensor<T>& tensor, const AdamWStep<T>& step, T gradScale, int64_t begin, int64_t end) {
  T* __restrict params = tensor.params + begin;
  const T* __restrict grads = tensor.grads + begin;
  T* __restrict first = tensor.firstMoments + begin;
  T* __restrict second = tensor.secondMoments + begin;
  const AdamWStep<T> s = step;
  auto bad = defect(T(0));
  for (int64_t i = 0; i < end - begin; i++) {
    const T g = grads[i] * gradScale;
    const T m = s.firstMoment(first[i], g), v = s.secondMoment(second[i], g), p = s.parameter(params[i], m, v);
    first[i] = m;
    second[i] = v;
    params[i] = p;
    bad |= defect(p) | defect(v);
  }
  return bad != 0;
}

}  // namespace

template <class T>
int64_t firstUnusable(const T* grads, int64_t count, double gradScale) {
  const T factor = static_cast<T>(gradScale);
  const auto unusable = [&](int64_t i) {
    const T g = grads[i] * factor;
    return defect(g * g);
  };
  return firstWhere(
      count, Order::forwards,
      [&](int64_t begin, int64_t end) {
        auto bad = defect(T(0));
        const int64_t part = (end - begin) / kStreams;
        for (int64_t i = begin; i < begin + part; i++) {
#pragma GCC unroll 8
          for (int stream = 0; stream < kStreams; stream++) bad |= unusable(i + stream * part);
        }
        for (int64_t i = begin + kStreams * part; i < end; i++) bad |= unusable(i);
        return bad != 0;
      },
      [&](int64_t i) { return unusable(i) != 0; });
}

template <class T>
int64_t adamW(const AdamWTensor<T>& tensor, const AdamWOptions& options) {
  const AdamWStep<T> step(options);
  const T gradScale = static_cast<T>(options.gradScale);
  return firstWhere(
      tensor.count, Order::backwards,
      [&](int64_t begin, int64_t end) { return updateBlock(tensor, step, gradScale, begin, end); },
      [&](int64_t i) { return (defect(tensor.params[i]) | defect(tensor.secondMoments[i])) != 0; });
}

template int64_t firstUnusable(const float*, int64_t, double);
template int64_t firstUnusable(const double*, int64_t, double);
template int64_t adamW(const AdamWTensor<float>&, const AdamWOptions&);
template int64_t adamW(const AdamWTensor<double>&, const AdamWOptions&);

}  // namespace MINFORM_ISA
}  // namespace minform
