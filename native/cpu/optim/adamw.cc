// Decoupled weight decay (arXiv 1711.05101) on Adam (arXiv 1412.6980), one pass over parameters and moments.
#include "blocks.h"
#include "minform/optim.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

inline float rootOf(float x) { return __builtin_sqrtf(x); }
inline double rootOf(double x) { return __builtin_sqrt(x); }

// Whether x is NaN or infinite, as bits that can be collected with |: integer reductions vectorise, float ones do not.
inline int32_t defect(float x) { return x - x == 0 ? 0 : 1; }
inline int64_t defect(double x) { return x - x == 0 ? 0 : 1; }

// The scalars of a step, computed in float64.
template <class T>
struct Step {
  T gradScale, keep, decay1, decay2, gain1, gain2, stepSize, rootCorrection, epsilon;

  explicit Step(const AdamWOptions& o)
      : gradScale(static_cast<T>(o.gradScale)),
        keep(static_cast<T>(1.0 - o.learningRate * o.weightDecay)),
        decay1(static_cast<T>(o.beta1)),
        decay2(static_cast<T>(o.beta2)),
        gain1(static_cast<T>(1.0 - o.beta1)),
        gain2(static_cast<T>(1.0 - o.beta2)),
        stepSize(static_cast<T>(o.learningRate / (1.0 - ::pow(o.beta1, static_cast<double>(o.step))))),
        rootCorrection(static_cast<T>(1.0 / ::sqrt(1.0 - ::pow(o.beta2, static_cast<double>(o.step))))),
        epsilon(static_cast<T>(o.epsilon)) {}
};

// Whether something is not finite afterwards.
template <class T>
bool updateBlock(const AdamWTensor<T>& tensor, const Step<T>& step, int64_t begin, int64_t end) {
  T* __restrict params = tensor.params + begin;
  const T* __restrict grads = tensor.grads + begin;
  T* __restrict first = tensor.firstMoments + begin;
  T* __restrict second = tensor.secondMoments + begin;
  const Step<T> s = step;
  auto bad = defect(T(0));
  for (int64_t i = 0; i < end - begin; i++) {
    const T g = grads[i] * s.gradScale;
    const T m = s.decay1 * first[i] + s.gain1 * g;
    const T v = s.decay2 * second[i] + s.gain2 * (g * g);
    const T p = s.keep * params[i] - s.stepSize * (m / (rootOf(v) * s.rootCorrection + s.epsilon));
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
  const Step<T> step(options);
  return firstWhere(
      tensor.count, Order::backwards, [&](int64_t begin, int64_t end) { return updateBlock(tensor, step, begin, end); },
      [&](int64_t i) { return (defect(tensor.params[i]) | defect(tensor.secondMoments[i])) != 0; });
}

template int64_t firstUnusable(const float*, int64_t, double);
template int64_t firstUnusable(const double*, int64_t, double);
template int64_t adamW(const AdamWTensor<float>&, const AdamWOptions&);
template int64_t adamW(const AdamWTensor<double>&, const AdamWOptions&);

}  // namespace MINFORM_ISA
}  // namespace minform
