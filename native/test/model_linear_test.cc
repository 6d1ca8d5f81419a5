// Linear layers against sums in float64: sizes that fill no tile, panel or block of depth.
#include <array>
#include <initializer_list>
#include <vector>

#include "check.h"
#include "minform/model_kernels.h"
#include "minform/pool.h"

using namespace minform;

template <class T>
static std::vector<T> noise(int64_t count, int64_t salt) {
  std::vector<T> values(static_cast<size_t>(count));
  uint32_t x = static_cast<uint32_t>(salt);
  for (T& value : values) {
    x = x * 1664525 + 1013904223;
    value = static_cast<T>(static_cast<int32_t>(x)) / T(2147483648.0);
  }
  return values;
}

// sum_k a[k * aDepth] b[k * bDepth].
template <class T>
static double sum(const T* a, int64_t aDepth, const T* b, int64_t bDepth, int64_t depth) {
  double total = 0;
  for (int64_t k = 0; k < depth; k++) total += static_cast<double>(a[k * aDepth]) * static_cast<double>(b[k * bDepth]);
  return total;
}

template <class T>
static void forms(int64_t rows, int64_t outputs, int64_t inputs, double bound) {
  const auto& kernels = modelKernels<T>();
  const auto x = noise<T>(rows * inputs, 1), w = noise<T>(outputs * inputs, 2), dy = noise<T>(rows * outputs, 3);
  const auto bias = noise<T>(outputs, 4), start = noise<T>(outputs * inputs, 5);
  std::vector<T> y(dy.size()), y2(dy.size()), dx = x, dw = start;
  LinearWeight<T> weight{w.data(), outputs, inputs, nullptr};
  kernels.linear(x.data(), rows, weight, bias.data(), 0, y.data(), outputs);
  std::vector<T> packed(static_cast<size_t>(kernels.packedElements(outputs, inputs)));
  kernels.pack(weight, packed.data());
  weight.packed = packed.data();
  kernels.linear(x.data(), rows, weight, bias.data(), 0, y2.data(), outputs);
  kernels.linearInputGradient(dy.data(), outputs, rows, weight, true, dx.data());
  kernels.linearWeightGradient(dy.data(), outputs, x.data(), rows, outputs, inputs, dw.data());
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < outputs; j++) {
      const auto at = static_cast<size_t>(i * outputs + j);
      CHECK_NEAR(y[at],
                 sum(&x[static_cast<size_t>(i * inputs)], 1, &w[static_cast<size_t>(j * inputs)], 1, inputs) +
                     bias[static_cast<size_t>(j)],
                 bound);
      CHECK(y[at] == y2[at]);
    }
    for (int64_t j = 0; j < inputs; j++) {
      const auto at = static_cast<size_t>(i * inputs + j);
      CHECK_NEAR(dx[at],
                 sum(&dy[static_cast<size_t>(i * outputs)], 1, &w[static_cast<size_t>(j)], inputs, outputs) + x[at],
                 bound);
    }
  }
  for (int64_t i = 0; i < outputs; i++) {
    for (int64_t j = 0; j < inputs; j++) {
      const auto at = static_cast<size_t>(i * inputs + j);
      CHECK_NEAR(dw[at],
                 sum(&dy[static_cast<size_t>(i)], outputs, &x[static_cast<size_t>(j)], inputs, rows) + start[at],
                 bound);
    }
  }
}

int main() {
  for (const int threads : {1, 3}) {
    setNumThreads(threads);
    for (const auto& [rows, outputs, inputs] : std::initializer_list<std::array<int64_t, 3>>{
             {1, 1, 1}, {7, 37, 300}, {101, 130, 65}, {600, 19, 33}, {5, 520, 771}}) {
      forms<float>(rows, outputs, inputs, 2e-4);
      forms<double>(rows, outputs, inputs, 1e-12);
    }
  }
  return checkResult();
}
