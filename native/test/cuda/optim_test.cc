// AdamW, gradient norm and clipping on the device against the CPU kernels, bit for bit; and that a bad gradient holds
// the whole step back.
#include "minform/cuda/optim.h"

#include <memory>

#include "device_test.h"

using namespace minform;
using namespace minform::cuda;

namespace {

const AdamWOptions kOptions{3, .01, .9, .999, 1e-8, .1, .5};

template <class T>
std::vector<T> positive(std::vector<T> values) {
  for (T& value : values) value *= value;
  return values;
}

template <class T>
struct Tensor {
  std::vector<T> params, grads, first, second;
  Tensor(Deviates& random, size_t count)
      : params(random.many<T>(count, 1)),
        grads(random.many<T>(count, 1)),
        first(random.many<T>(count, .1)),
        second(positive(random.many<T>(count, .1))) {}
};

template <class T>
struct DeviceTensor {
  Uploaded<T> params, grads, first, second;
  size_t count;
  explicit DeviceTensor(const Tensor<T>& from)
      : params(from.params), grads(from.grads), first(from.first), second(from.second), count(from.params.size()) {}
  AdamWTensor<T> view() const {
    return {params.get(), grads.get(), first.get(), second.get(), static_cast<int64_t>(count)};
  }
};

template <class T>
std::vector<T> download(const T* from, size_t count) {
  std::vector<T> values(count);
  copyToHost(values.data(), from, count * sizeof(T), nullptr);
  return values;
}

GradNorm read(const Output<GradNorm>& from) { return from.download()[0]; }

template <class T>
void stepAgrees(size_t count) {
  Deviates random(5);
  Tensor<T> host(random, count);
  const DeviceTensor<T> device(host);
  const Uploaded<double> scale(std::vector<double>{.25});
  const StatusWord status, guard;
  AdamWOptions options = kOptions;
  for (int i = 0; i < 2; i++, options.step++) {
    AdamWOptions scaled = options;
    if (i == 1) scaled.gradScale *= .25;
    CHECK(minform::optim<T>().adamW({host.params.data(), host.grads.data(), host.first.data(), host.second.data(),
                                     static_cast<int64_t>(count)},
                                    scaled) == kOk);
    resetStatus(guard.get(), nullptr);
    optimAdamW<T>(device.view(), options, i == 1 ? scale.get() : nullptr, i == 1 ? guard.get() : nullptr, status.get(),
                  nullptr);
    CHECK(status.read() == kOk);
  }
  CHECK(sameBits(download(device.params.get(), count), host.params));
  CHECK(sameBits(download(device.first.get(), count), host.first));
  CHECK(sameBits(download(device.second.get(), count), host.second));
}

// A gradient whose square overflows is reported and nothing moves, whichever tensor of the step it is in.
template <class T>
void badGradientsHoldBack() {
  Deviates random(6);
  const Tensor<T> good(random, 300);
  Tensor<T> bad(random, 700);
  bad.grads[500] = sizeof(T) == sizeof(float) ? T(1e20) : T(1e160);
  bad.grads[600] = T(NAN);
  const DeviceTensor<T> one(good), two(bad);
  const StatusWord first, second, guard, after;
  resetStatus(guard.get(), nullptr);
  optimCheckGrads<T>(one.grads.get(), 300, 1, nullptr, first.get(), guard.get(), nullptr);
  optimCheckGrads<T>(two.grads.get(), 700, 1, nullptr, second.get(), guard.get(), nullptr);
  CHECK(first.read() == kOk && second.read() == 500 && guard.read() != kOk);
  optimAdamW<T>(one.view(), kOptions, nullptr, guard.get(), after.get(), nullptr);
  CHECK(after.read() == kOk);
  CHECK(sameBits(download(one.params.get(), 300), good.params));
  CHECK(sameBits(download(one.second.get(), 300), good.second));

  // Scaled down, only the NaN is left.
  const Uploaded<double> scale(std::vector<double>{1e-10});
  optimCheckGrads<T>(two.grads.get(), 700, 1e-10, scale.get(), second.get(), nullptr, nullptr);
  CHECK(second.read() == 600);
  // Unchecked, it is found afterwards, and the rest of the step is done.
  optimAdamW<T>(two.view(), kOptions, nullptr, nullptr, after.get(), nullptr);
  CHECK(after.read() == 500);
  CHECK(download(two.params.get(), 700)[699] != bad.params[699]);
}

// Norm, scale and clipped gradients of several tensors, as lib/optim/norm.ts computes them on the CPU.
template <class T>
void clippingAgrees(const std::vector<size_t>& counts, double maxNorm) {
  Deviates random(8);
  std::vector<std::vector<T>> host;
  std::vector<const T*> tensors;
  std::vector<int64_t> sizes;
  std::vector<std::unique_ptr<Uploaded<T>>> device;
  double sum = 0;
  for (const size_t count : counts) {
    host.push_back(random.many<T>(count, 1));
    device.push_back(std::make_unique<Uploaded<T>>(host.back()));
    tensors.push_back(device.back()->get());
    sizes.push_back(static_cast<int64_t>(count));
    sum += minform::optim<T>().sumOfSquares(host.back().data(), sizes.back(), 1);
  }
  const Output<GradNorm> out(1);
  const Output<int64_t> status(counts.size());
  const StatusWord guard;
  resetStatus(guard.get(), nullptr);
  optimGradNorm<T>(tensors.data(), sizes.data(), static_cast<int64_t>(counts.size()), maxNorm, out.get(), status.get(),
                   guard.get(), nullptr);
  const double norm = std::sqrt(sum), scale = std::fmin(1, maxNorm / (norm + 1e-6));
  CHECK(read(out).norm == norm && read(out).scale == scale);
  CHECK(guard.read() == kOk);
  for (size_t i = 0; i < counts.size(); i++) {
    CHECK(status.download()[i] == kOk);
    optimScale<T>(device[i]->get(), sizes[i], &out.get()->scale, nullptr);
    if (scale < 1) minform::optim<T>().scale(host[i].data(), sizes[i], scale);
    CHECK(sameBits(download(device[i]->get(), counts[i]), host[i]));
  }
}

template <class T>
GradNorm normOf(const std::vector<T>& values, int64_t* status, int64_t* guard) {
  const Uploaded<T> on(values);
  const T* tensor = on.get();
  const int64_t count = static_cast<int64_t>(values.size());
  const Output<GradNorm> out(1);
  optimGradNorm<T>(&tensor, &count, 1, 1, out.get(), status, guard, nullptr);
  return read(out);
}

template <class T>
void extremeNorms() {
  const StatusWord status, guard;
  resetStatus(guard.get(), nullptr);
  CHECK(normOf<T>({0, 0, 0}, status.get(), guard.get()).norm == 0);
  CHECK(normOf<T>({}, status.get(), guard.get()).norm == 0);
  if (sizeof(T) == sizeof(double)) {
    CHECK_NEAR(normOf<T>({T(3e200), T(4e200)}, status.get(), guard.get()).norm / 5e200, 1, 1e-15);
    CHECK_NEAR(normOf<T>({T(3e-200), T(4e-200)}, status.get(), guard.get()).norm / 5e-200, 1, 1e-15);
    CHECK_NEAR(normOf<T>({T(3e-320), T(4e-320)}, status.get(), guard.get()).norm / 5e-320, 1, 1e-3);
    CHECK(guard.read() == kOk);
    const GradNorm beyond = normOf<T>({T(1.7e308), T(1.7e308)}, status.get(), guard.get());
    CHECK(std::isnan(beyond.norm) && beyond.scale == 1 && status.read() == kOk && guard.read() != kOk);
  } else {
    CHECK_NEAR(normOf<T>({T(3e38), T(-3e38)}, status.get(), guard.get()).norm / (T(3e38) * std::sqrt(2.0)), 1, 1e-12);
  }
  resetStatus(guard.get(), nullptr);
  std::vector<T> bad(40000, T(1));
  bad[39999] = T(NAN);
  bad[33000] = T(INFINITY);
  const GradNorm found = normOf<T>(bad, status.get(), guard.get());
  CHECK(std::isnan(found.norm) && found.scale == 1 && status.read() == 33000 && guard.read() != kOk);
}

// More elements than the largest grid has threads.
void longArrays() {
  const size_t count = 8192 * 256 + 5;
  std::vector<float> values(count, 1);
  values[count - 1] = NAN;
  const Uploaded<float> grads(values);
  const StatusWord status;
  optimCheckGrads<float>(grads.get(), static_cast<int64_t>(count), 1, nullptr, status.get(), nullptr, nullptr);
  CHECK(status.read() == static_cast<int64_t>(count) - 1);
}

template <class T>
void allOf() {
  for (const size_t count : {1, 31, 257, 5000}) stepAgrees<T>(count);
  badGradientsHoldBack<T>();
  clippingAgrees<T>({1, 31, 33, 1000}, 1);
  clippingAgrees<T>({70000, 0, 32768}, 10);
  clippingAgrees<T>({100}, 1e9);
  extremeNorms<T>();
}

}  // namespace

int main() {
  return runOnDevice([] {
    allOf<float>();
    allOf<double>();
    longArrays();
  });
}
