// Decoupled weight decay (arXiv 1711.05101) on Adam (arXiv 1412.6980), one pass over parameters and moments.
#include <cmath>

#include "blocks.h"
#include "minform/cuda/optim.h"

namespace minform::cuda {
namespace {

__device__ __forceinline__ float rootOf(float x) { return sqrtf(x); }
__device__ __forceinline__ double rootOf(double x) { return sqrt(x); }

// The scalars of a step, computed in float64.
template <class T>
struct Step {
  double gradScale;
  T keep, decay1, decay2, gain1, gain2, stepSize, rootCorrection, epsilon;

  explicit Step(const AdamWOptions& o)
      : gradScale(o.gradScale),
        keep(static_cast<T>(1.0 - o.learningRate * o.weightDecay)),
        decay1(static_cast<T>(o.beta1)),
        decay2(static_cast<T>(o.beta2)),
        gain1(static_cast<T>(1.0 - o.beta1)),
        gain2(static_cast<T>(1.0 - o.beta2)),
        stepSize(static_cast<T>(o.learningRate / (1.0 - std::pow(o.beta1, static_cast<double>(o.step))))),
        rootCorrection(static_cast<T>(1.0 / std::sqrt(1.0 - std::pow(o.beta2, static_cast<double>(o.step))))),
        epsilon(static_cast<T>(o.epsilon)) {}
};

template <class T>
struct AdamW {
  static constexpr int kThreads = kStrideThreads;
  int64_t count;
  Step<T> step;
  Global<T> params, firstMoments, secondMoments;
  Global<const T> grads;
  Global<const double> deviceScale;
  Global<const int64_t> guard;
  Global<int64_t> status;

  __device__ void operator()() const {
    if (guard != nullptr && guard[0] != kOk) return;
    const T gradScale = static_cast<T>(step.gradScale * valueOr(deviceScale, 1));
    eachStrided(count, [&](int64_t i) {
      const T g = grads[i] * gradScale;
      const T m = step.decay1 * firstMoments[i] + step.gain1 * g;
      const T v = step.decay2 * secondMoments[i] + step.gain2 * (g * g);
      const T p = step.keep * params[i] - step.stepSize * (m / (rootOf(v) * step.rootCorrection + step.epsilon));
      firstMoments[i] = m;
      secondMoments[i] = v;
      params[i] = p;
      if (!isFinite(p) || !isFinite(v)) reportBad(status, i);
    });
  }
};

template <class T>
struct CheckGrads {
  static constexpr int kThreads = kStrideThreads;
  int64_t count;
  double gradScale;
  Global<const T> grads;
  Global<const double> deviceScale;
  Global<int64_t> status, guard;

  __device__ void operator()() const {
    const T factor = static_cast<T>(gradScale * valueOr(deviceScale, 1));
    eachStrided(count, [&](int64_t i) {
      const T g = grads[i] * factor;
      if (isFinite(g * g)) return;
      reportBad(status, i);
      if (guard != nullptr) reportBad(guard, i);
    });
  }
};

}  // namespace

template <class T>
void optimCheckGrads(const T* grads, int64_t count, double gradScale, const double* deviceScale, int64_t* status,
                     int64_t* guard, Stream stream) {
  resetStatus(status, stream);
  launch(CheckGrads<T>{count, gradScale, grads, deviceScale, status, guard}, strided(count), stream);
}

template <class T>
void optimAdamW(const AdamWTensor<T>& tensor, const AdamWOptions& options, const double* deviceScale,
                const int64_t* guard, int64_t* status, Stream stream) {
  resetStatus(status, stream);
  launch(AdamW<T>{tensor.count, Step<T>(options), tensor.params, tensor.firstMoments, tensor.secondMoments,
                  tensor.grads, deviceScale, guard, status},
         strided(tensor.count), stream);
}

template void optimCheckGrads(const float*, int64_t, double, const double*, int64_t*, int64_t*, Stream);
template void optimCheckGrads(const double*, int64_t, double, const double*, int64_t*, int64_t*, Stream);
template void optimAdamW(const AdamWTensor<float>&, const AdamWOptions&, const double*, const int64_t*, int64_t*,
                         Stream);
template void optimAdamW(const AdamWTensor<double>&, const AdamWOptions&, const double*, const int64_t*, int64_t*,
                         Stream);

}  // namespace minform::cuda
