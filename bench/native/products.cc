// Matrix products with the library's own kernels, on request. Usage: products THREADS
//
// A line "TIMES FORM ROWS OUTPUTS INPUTS" on stdin is done so many times and answered by an empty line on stdout.
// Forms, as a linear layer y = x W^T [ROWS, OUTPUTS] has them:
//   forward   x W^T, W packed on the way        dx   dy W        dw   dy^T x
//   decode    x W^T, W packed before the first time
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "gemm/product.h"

using namespace minform;
using namespace minform::MINFORM_ISA;

namespace {

struct Layer {
  int64_t rows, outputs, inputs;
  std::vector<float> x, weight, y, packed;

  Layer(int64_t rows, int64_t outputs, int64_t inputs)
      : rows(rows),
        outputs(outputs),
        inputs(inputs),
        x(static_cast<size_t>(rows * inputs), 0.5f),
        weight(static_cast<size_t>(outputs * inputs), 0.25f),
        y(static_cast<size_t>(rows * outputs), 0.125f),
        packed(static_cast<size_t>(packedElements<float>(inputs, outputs))) {
    packRight<float>({weight.data(), inputs, true}, inputs, outputs, packed.data());
  }

  void run(const char* form) {
    const Product<float> forward{rows, outputs, inputs, {x.data(), inputs, false}, nullptr, 0, y.data(), outputs};
    if (std::strcmp(form, "forward") == 0) return multiply<float>(forward, {weight.data(), inputs, true});
    if (std::strcmp(form, "decode") == 0) return multiplyPacked<float>(forward, packed.data());
    if (std::strcmp(form, "dx") == 0) {
      return multiply<float>({rows, inputs, outputs, {y.data(), outputs, false}, nullptr, 0, x.data(), inputs},
                             {weight.data(), inputs, false});
    }
    multiply<float>({outputs, inputs, rows, {y.data(), outputs, true}, nullptr, 0, weight.data(), inputs},
                    {x.data(), inputs, false});
  }

  bool is(int64_t otherRows, int64_t otherOutputs, int64_t otherInputs) const {
    return rows == otherRows && outputs == otherOutputs && inputs == otherInputs;
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) setNumThreads(std::atoi(argv[1]));
  Layer layer(1, 1, 1);
  char form[16];
  long long times, rows, outputs, inputs;
  while (std::scanf("%lld %15s %lld %lld %lld", &times, form, &rows, &outputs, &inputs) == 5) {
    if (!layer.is(rows, outputs, inputs)) layer = Layer(rows, outputs, inputs);
    for (long long i = 0; i < times; i++) layer.run(form);
    std::puts("");
    std::fflush(stdout);
  }
  return 0;
}
