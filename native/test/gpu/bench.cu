// Times the kernels beside what the card can do: copies, reads, matrix products. Prints a line per measurement:
//   name <tab> milliseconds <tab> GB/s <tab> share of the copy or read bandwidth <tab> TFLOP/s <tab> share of the
//   matrix rate
// With --small the sizes are tiny: to see that everything runs, on the emulator too. Exits with 3 without a device.
#include <cstdio>
#include <cstring>
#include <string>

#include "minform/cuda/credit.h"
#include "minform/cuda/logprob.h"
#include "minform/cuda/sampling.h"
#include "minform/device.h"
#include "products/product.h"
#include "read.h"
#include "timing.h"

using namespace minform;
using namespace minform::cuda;

namespace {

struct Sizes {
  int64_t rows, width, vocabulary, copied, responses, steps;
  int calls;
};
constexpr Sizes kFull{8192, 3584, 151936, int64_t{1} << 28, 16384, 128, 21};
constexpr Sizes kSmall{8, 32, 264, 1 << 14, 16, 8, 3};

// Values between -8 and 8.
uint16_t bfloat16Of(uint32_t bits) { return static_cast<uint16_t>((bits & 0x807F) | (122 + bits / 65536 % 8) << 7); }
float floatOf(uint32_t bits) { return static_cast<float>(bits % 4096) / 256 - 8; }

class Bench {
 public:
  explicit Bench(const Sizes& sizes) : sizes_(sizes) {}

  void run() {
    memory();
    matrices();
    credit();
    tokens();
    linear();
    sampling();
  }

 private:
  double time(const std::function<void(int64_t)>& body) const { return medianTime(sizes_.calls, body); }

  // `bound` is the bandwidth in GB/s that the call is held against; 0 for none. `flops` 0: no products.
  void print(const std::string& name, double milliseconds, double bytes, double bound, double flops) const {
    std::printf("%s\t%.4g", name.c_str(), milliseconds);
    const double rate = bytes / milliseconds / 1e6, products = flops / milliseconds / 1e9;
    if (bytes > 0) {
      std::printf("\t%.4g", rate);
    } else {
      std::printf("\t");
    }
    if (bound > 0) {
      std::printf("\t%.3g", rate / bound);
    } else {
      std::printf("\t");
    }
    if (flops > 0) {
      std::printf("\t%.4g\t%.3g\n", products, products / matrixRate_);
    } else {
      std::printf("\t\t\n");
    }
    std::fflush(stdout);
  }

  void memory() {
    const int64_t count = sizes_.copied;
    const double bytes = static_cast<double>(count) * sizeof(float);
    const Rotated<float> from(count, floatOf);
    const Buffer<float> to(count, nullptr), sums(count / kReadElements + 1, nullptr);
    double ms = time([&](int64_t call) {
      copyOnDevice(to.get(), from.at(call), static_cast<size_t>(count) * sizeof(float), nullptr);
    });
    copyRate_ = 2 * bytes / ms / 1e6;
    print("copy", ms, 2 * bytes, copyRate_, 0);
    ms = time([&](int64_t call) { readAll(from.at(call), count, sums.get(), nullptr); });
    readRate_ = bytes / ms / 1e6;
    print("read", ms, bytes, readRate_, 0);
  }

  // bfloat16 products with float32 results, at the size of a chunk of logits: the library's, and our own. The faster
  // one is the card's matrix rate.
  void matrices() {
    const int64_t columns = sizes_.vocabulary < 16384 ? sizes_.vocabulary : 16384;
    const Rotated<uint16_t> a(sizes_.rows * sizes_.width, bfloat16Of), b(columns * sizes_.width, bfloat16Of);
    const Buffer<float> out(sizes_.rows * columns, nullptr);
    const double flops = 2.0 * static_cast<double>(sizes_.rows * columns * sizes_.width);
    double times[2];
    for (const Products products : {Products::library, Products::own}) {
      chooseProducts(products);
      times[static_cast<int>(products)] = time([&](int64_t call) {
        const Matrix left{a.at(call), Element::bfloat16, sizes_.rows, sizes_.width};
        const Matrix right{b.at(call), Element::bfloat16, columns, sizes_.width};
        multiply(Product<float>{left.rows, columns, sizes_.width, linesOf(left, 0, true), linesOf(right, 0, true),
                                out.get(), columns, false, false, nullptr},
                 nullptr);
      });
    }
    chooseProducts(Products::library);
    matrixRate_ = flops / std::min(times[0], times[1]) / 1e9;
    if (productsLibraryVersion() != 0) {
      print("product cuBLASLt " + std::to_string(productsLibraryVersion()), times[0], 0, 0, flops);
    }
    print("product own", times[1], 0, 0, flops);
  }

  void credit() {
    const int64_t rows = sizes_.responses, total = rows * sizes_.steps;
    std::vector<int32_t> ends(static_cast<size_t>(rows) + 1);
    for (size_t i = 0; i < ends.size(); i++) ends[i] = static_cast<int32_t>(static_cast<int64_t>(i) * sizes_.steps);
    const Buffer<int32_t> offsets(rows + 1, nullptr);
    copyToDevice(offsets.get(), ends.data(), ends.size() * sizeof(int32_t), nullptr);
    const Rotated<float> rewards(total, [](uint32_t bits) { return floatOf(bits) / 8; });
    const Buffer<float> credited(total, nullptr), returns(total, nullptr), outcomes(rows, nullptr),
        weights(total, nullptr);
    const Buffer<int64_t> status(1, nullptr);
    const double ms = time([&](int64_t call) {
      creditAssign<float>(CreditForm::minForm, {{offsets.get(), rows}, rewards.at(call), nullptr, nullptr, .1},
                          {credited.get(), returns.get(), outcomes.get(), weights.get()}, status.get(), nullptr);
    });
    print("minForm credit", ms, 16.0 * static_cast<double>(total), copyRate_, 0);
  }

  std::vector<int32_t> targets() const {
    std::vector<int32_t> ids;
    for (int64_t row = 0; row < sizes_.rows; row++) {
      ids.push_back(static_cast<int32_t>(row * 2654435761 % sizes_.vocabulary));
    }
    return ids;
  }

  // Per row, on the device.
  struct RowArrays {
    Buffer<int32_t> targets;
    Buffer<float> logProbs, entropy, upstream;
    Buffer<double> logSumExp;
    Buffer<int64_t> status;

    explicit RowArrays(const std::vector<int32_t>& ids)
        : targets(static_cast<int64_t>(ids.size()), nullptr),
          logProbs(static_cast<int64_t>(ids.size()), nullptr),
          entropy(static_cast<int64_t>(ids.size()), nullptr),
          upstream(static_cast<int64_t>(ids.size()), nullptr),
          logSumExp(static_cast<int64_t>(ids.size()), nullptr),
          status(1, nullptr) {
      copyToDevice(targets.get(), ids.data(), ids.size() * sizeof(int32_t), nullptr);
      const std::vector<float> ones(ids.size(), 1);
      copyToDevice(upstream.get(), ones.data(), ones.size() * sizeof(float), nullptr);
    }
    LogProbOutput<float> out() const { return {logProbs.get(), entropy.get(), nullptr, logSumExp.get()}; }
    LogProbGradients<float> gradients() const { return {logSumExp.get(), nullptr, upstream.get(), nullptr}; }
  };

  void tokens() {
    const int64_t count = sizes_.rows * sizes_.vocabulary;
    const double bytes = 2.0 * static_cast<double>(count);
    const Rotated<uint16_t> logits(count, bfloat16Of);
    const Buffer<uint16_t> gradient(count, nullptr);
    const RowArrays rows(targets());
    const auto matrix = [&](int64_t call) {
      return Matrix{logits.at(call), Element::bfloat16, sizes_.rows, sizes_.vocabulary};
    };
    double ms = time([&](int64_t call) {
      logProbForward<float>(matrix(call), rows.targets.get(), 1, rows.out(), rows.status.get(), nullptr);
    });
    print("tokenLogProbs forward", ms, bytes, readRate_, 0);
    ms = time([&](int64_t call) {
      logProbBackward<float>(matrix(call), rows.targets.get(), 1, rows.gradients(), gradient.get(), rows.status.get(),
                             nullptr);
    });
    print("tokenLogProbs backward", ms, 2 * bytes, copyRate_, 0);
  }

  void linear() {
    const int64_t hiddenSize = sizes_.rows * sizes_.width, weightSize = sizes_.vocabulary * sizes_.width;
    const double flops = 2.0 * static_cast<double>(hiddenSize) * static_cast<double>(sizes_.vocabulary);
    const Rotated<uint16_t> hidden(hiddenSize, bfloat16Of), weight(weightSize, [](uint32_t bits) {
      return static_cast<uint16_t>(bfloat16Of(bits) - (5 << 7));  // logits of a usual size
    });
    const Buffer<float> gradHidden(hiddenSize, nullptr), gradWeight(weightSize, nullptr);
    const RowArrays rows(targets());
    const auto input = [&](int64_t call) {
      return LinearInput{{hidden.at(call), Element::bfloat16, sizes_.rows, sizes_.width},
                         {weight.at(call), Element::bfloat16, sizes_.vocabulary, sizes_.width},
                         nullptr,
                         Element::float32};
    };
    for (const Products products : {Products::library, Products::own}) {
      chooseProducts(products);
      if (products == Products::library && productsLibraryVersion() == 0) continue;
      const std::string with = products == Products::own ? " own" : " cuBLASLt";
      const size_t before = memoryStats().inUse;
      resetPeak();
      double ms = time([&](int64_t call) {
        logProbLinearForward<float>(input(call), rows.targets.get(), 1, rows.out(), rows.status.get(), nullptr);
      });
      print("linearLogProbs forward" + with, ms, 0, 0, flops);
      ms = time([&](int64_t call) {
        logProbLinearBackward<float>(input(call), rows.targets.get(), 1, rows.gradients(),
                                     {gradHidden.get(), gradWeight.get(), nullptr}, rows.status.get(), nullptr);
      });
      print("linearLogProbs backward" + with, ms, 0, 0, 3 * flops);
      std::fprintf(stderr, "scratch of linearLogProbs%s: %.1f MB\n", with.c_str(),
                   static_cast<double>(memoryStats().peak - before) / 1e6);
    }
    chooseProducts(Products::library);
  }

  void sampling() {
    const int64_t rows = sizes_.rows < 256 ? sizes_.rows : 256, count = rows * sizes_.vocabulary;
    const Rotated<uint16_t> logits(count, bfloat16Of);
    const Buffer<RandomCounter> counters(rows, nullptr);
    fillBytes(counters.get(), 1, static_cast<size_t>(rows) * sizeof(RandomCounter), nullptr);
    const Buffer<int32_t> chosen(rows, nullptr);
    const Buffer<float> logProbs(rows, nullptr);
    const Buffer<int64_t> status(1, nullptr);
    for (const bool truncates : {false, true}) {
      const SamplingRule rule{1, truncates ? 50 : 0, truncates ? .9 : 1, 0};
      const double ms = time([&](int64_t call) {
        sampleTokens<float>({logits.at(call), Element::bfloat16, rows, sizes_.vocabulary}, rule, 1, counters.get(),
                            {chosen.get(), logProbs.get(), nullptr}, status.get(), nullptr);
      });
      print(truncates ? "sampling top-k 50, top-p 0.9" : "sampling", ms, 2.0 * static_cast<double>(count), readRate_,
            0);
    }
  }

  const Sizes sizes_;
  double copyRate_ = 0, readRate_ = 0, matrixRate_ = 1;
};

}  // namespace

int main(int count, char** arguments) {
  const CudaInfo info = cudaInfo();
  if (info.deviceCount == 0) {
    std::fprintf(stderr, "NoDevice: %s\n", info.reason);
    return 3;
  }
  Bench(count > 1 && std::strcmp(arguments[1], "--small") == 0 ? kSmall : kFull).run();
  return 0;
}
