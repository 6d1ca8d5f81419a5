// AdamW (arithmetic/adamw.h), one pass over parameters and moments.
#include "arithmetic/adamw.h"
#include "blocks.h"
#include "minform/cuda/optim.h"

namespace minform::cuda {
namespace {

template <class T>
struct AdamW {
  static constexpr int kThreads = kStrideThreads;
  int64_t count;
  AdamWStep<T> step;
  double gradScale;
  Global<T> params, firstMoments, secondMoments;
  Global<const T> grads;
  Global<const double> deviceScale;
  Global<const int64_t> guard;
  Global<int64_t> status;

  __device__ void operator()() const {
    if (guard != nullptr && guard[0] != kOk) return;
    const T factor = static_cast<T>(gradScale * valueOr(deviceScale, 1));
    eachStrided(count, [&](int64_t i) {
      const T g = grads[i] * factor;
      const T m = step.firstMoment(firstMoments[i], g), v = step.secondMoment(secondMoments[i], g);
      const T p = step.parameter(params[i], m, v);
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
  launch(AdamW<T>{tensor.count, AdamWStep<T>(options), options.gradScale, tensor.params, tensor.firstMoments,
                  tensor.secondMoments, tensor.grads, deviceScale, guard, status},
         strided(tensor.count), stream);
}

template void optimCheckGrads(const float*, int64_t, double, const double*, int64_t*, int64_t*, Stream);
template void optimCheckGrads(const double*, int64_t, double, const double*, int64_t*, int64_t*, Stream);
template void optimAdamW(const AdamWTensor<float>&, const AdamWOptions&, const double*, const int64_t*, int64_t*,
                         Stream);
template void optimAdamW(const AdamWTensor<double>&, const AdamWOptions&, const double*, const int64_t*, int64_t*,
                         Stream);

}  // namespace minform::cuda
