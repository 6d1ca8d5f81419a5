// AdamW by hand and the norm kernels at block borders, through the kernel table of the ISA level in use.
#include "minform/optim.h"

#include <limits>
#include <vector>

#include "check.h"

using namespace minform;

template <class T>
static void firstStep(double bound) {
  T params[] = {1, 1, 2}, first[3] = {}, second[3] = {};
  const T grads[] = {T(.5), T(-4), 0};
  const AdamWOptions options{1, .1, .9, .999, 1e-8, .01, 1};
  CHECK(optim<T>().firstUnusable(grads, 3, 1) == kOk);
  CHECK(optim<T>().adamW({params, grads, first, second, 3}, options) == kOk);
  CHECK_NEAR(params[0], .899, bound);
  CHECK_NEAR(params[1], 1.099, bound);
  CHECK_NEAR(params[2], 1.998, bound);
  CHECK_NEAR(first[1], -.4, bound);
  CHECK_NEAR(second[1], .016, bound);
}

template <class T>
static void finds(int64_t count, int64_t index) {
  std::vector<T> values(static_cast<size_t>(count), T(1));
  CHECK(optim<T>().firstUnusable(values.data(), count, 1) == kOk);
  CHECK_NEAR(optim<T>().sumOfSquares(values.data(), count, 2), static_cast<double>(count) / 4, 0);
  optim<T>().scale(values.data(), count, .5);
  CHECK_NEAR(optim<T>().sumOfSquares(values.data(), count, 1), static_cast<double>(count) / 4, 0);
  values[static_cast<size_t>(index)] = std::numeric_limits<T>::infinity();
  CHECK(optim<T>().firstUnusable(values.data(), count, 1) == index);
  int64_t bad = kOk;
  optim<T>().largestMagnitude(values.data(), count, &bad);
  CHECK(bad == index);
}

int main() {
  firstStep<double>(1e-8);
  firstStep<float>(1e-6);
  for (int64_t count : {1, 8, 33, 32768, 32769, 100001}) {
    for (int64_t index : {int64_t{0}, count / 2, count - 1}) {
      finds<float>(count, index);
      finds<double>(count, index);
    }
  }
  CHECK(optim<float>().sumOfSquares(nullptr, 0, 1) == 0);
  return checkResult();
}
