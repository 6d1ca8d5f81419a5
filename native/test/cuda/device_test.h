// What tests of device kernels share: arrays on the device, poisoned outputs, errors as ratios of norms. The same tests
// run on the emulator and on a GPU.
#pragma once

#include <cmath>
#include <cstring>
#include <vector>

#include "check.h"
#include "minform/cuda/runtime.h"
#include "minform/device.h"
#include "minform/ragged.h"

namespace minform::cuda {

// A copy of `values` on the device; none for an absent array.
template <class T>
class Uploaded {
 public:
  Uploaded() : buffer_(0, nullptr) {}
  explicit Uploaded(const std::vector<T>& values) : buffer_(static_cast<int64_t>(values.size()), nullptr) {
    copyToDevice(buffer_.get(), values.data(), values.size() * sizeof(T), nullptr);
  }
  T* get() const { return buffer_.get(); }

 private:
  Buffer<T> buffer_;
};

// An output. On a GPU it starts as NaN; the emulator knows by itself what was not written.
template <class T>
class Output {
 public:
  explicit Output(size_t count) : count_(count), buffer_(static_cast<int64_t>(count), nullptr) {
#if !defined(MINFORM_SIMT)
    fillBytes(buffer_.get(), 0xFF, count * sizeof(T), nullptr);
#endif
  }
  T* get() const { return buffer_.get(); }
  std::vector<T> download() const {
    std::vector<T> values(count_);
    copyToHost(values.data(), buffer_.get(), count_ * sizeof(T), nullptr);
    return values;
  }

 private:
  size_t count_;
  Buffer<T> buffer_;
};

class StatusWord {
 public:
  StatusWord() : buffer_(1, nullptr) {}
  int64_t* get() const { return buffer_.get(); }
  int64_t read() const { return readStatus(buffer_.get(), nullptr); }

 private:
  Buffer<int64_t> buffer_;
};

struct Norms {
  double difference, expected;
};

// ||actual - expected|| and ||expected||. Infinite values must be the same; NaN makes the difference NaN.
template <class T, class U>
Norms normsOf(const std::vector<T>& actual, const std::vector<U>& expected) {
  if (actual.size() != expected.size()) return {NAN, 0};
  double difference = 0, norm = 0;
  for (size_t i = 0; i < actual.size(); i++) {
    const double a = static_cast<double>(actual[i]), e = static_cast<double>(expected[i]);
    if (a == e && std::isinf(e)) continue;
    difference += (a - e) * (a - e);
    norm += e * e;
  }
  return {std::sqrt(difference), std::sqrt(norm)};
}

template <class T, class U>
double normRatio(const std::vector<T>& actual, const std::vector<U>& expected) {
  const Norms norms = normsOf(actual, expected);
  return norms.difference == 0 ? 0 : norms.difference / norms.expected;
}

template <class T>
bool sameBits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// Deviates that are roughly normal: the same every time, unless MINFORM_TEST_SEED asks for others.
class Deviates {
 public:
  explicit Deviates(uint32_t seed) : state_(seed) {
    const char* other = std::getenv("MINFORM_TEST_SEED");
    if (other != nullptr) state_ += 0x9E3779B9u * static_cast<uint32_t>(std::strtoul(other, nullptr, 10));
  }
  uint32_t bits() {
    state_ = state_ * 1664525 + 1013904223;
    return state_ >> 8;
  }
  double next() {
    double sum = -2;
    for (int i = 0; i < 4; i++) sum += bits() / 16777216.0;
    return sum;
  }
  template <class T>
  std::vector<T> many(size_t count, double scale) {
    std::vector<T> values(count);
    for (T& value : values) value = static_cast<T>(next() * scale);
    return values;
  }

 private:
  uint32_t state_;
};

inline std::vector<int32_t> offsetsOf(const std::vector<int32_t>& lengths) {
  std::vector<int32_t> offsets{0};
  for (const int32_t length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

// Runs the test where there is a device; 77 makes ctest report "skipped".
inline int runOnDevice(void (*test)()) {
  const CudaInfo info = cudaInfo();
  if (info.deviceCount == 0) {
    std::fprintf(stderr, "skipped: %s\n", info.reason);
    return 77;
  }
  test();
  return checkResult();
}

}  // namespace minform::cuda
