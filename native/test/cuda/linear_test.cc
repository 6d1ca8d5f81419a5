// Log-probs from hidden states on the device against float64 on the inputs as stored.
#include <algorithm>

#include "../../cuda/logprob/chunk_limit.h"
#include "device_logprobs.h"
#include "stored.h"

using namespace minform;
using namespace minform::cuda;

namespace {

const CancelFlag kGoOn{false};

struct Sizes {
  int64_t rows, width, vocabulary;
};

struct Problem {
  Sizes sizes;
  Deviates random{21};
  Stored hidden, weight, bias;
  bool biased;
  double temperature;
  std::vector<int32_t> targets;
  Uploaded<int32_t> deviceTargets;
  double products = 0;  // the largest sum of |hidden * weight| of any logit

  std::vector<double> deviates(int64_t count, double scale) {
    return random.many<double>(static_cast<size_t>(count), scale);
  }
  static std::vector<int32_t> targetsOf(const Sizes& sizes) {
    std::vector<int32_t> targets;
    for (int64_t row = 0; row < sizes.rows; row++) {
      targets.push_back(static_cast<int32_t>((row * 2654435761 + 3) % sizes.vocabulary));
    }
    targets.back() = static_cast<int32_t>(sizes.vocabulary - 1);
    return targets;
  }

  Problem(const Sizes& sizes, Element hiddenElement, Element weightElement, bool biased, double temperature)
      : sizes(sizes),
        hidden(deviates(sizes.rows * sizes.width, 1), hiddenElement),
        weight(deviates(sizes.vocabulary * sizes.width, 4 / std::sqrt(static_cast<double>(sizes.width))),
               weightElement),
        bias(deviates(biased ? sizes.vocabulary : 0, 1), weightElement),
        biased(biased),
        temperature(temperature),
        targets(targetsOf(sizes)),
        deviceTargets(targets) {
    for (int64_t row = 0; row < sizes.rows; row++) {
      for (int64_t token = 0; token < sizes.vocabulary; token++) {
        double sum = biased ? std::fabs(bias.exact[static_cast<size_t>(token)]) : 0;
        for (int64_t k = 0; k < sizes.width; k++) {
          sum += std::fabs(hidden.exact[static_cast<size_t>(row * sizes.width + k)] *
                           weight.exact[static_cast<size_t>(token * sizes.width + k)]);
        }
        products = std::max(products, sum);
      }
    }
  }

  LinearInput onHost() const {
    return {{hidden.exact.data(), Element::float64, sizes.rows, sizes.width},
            {weight.exact.data(), Element::float64, sizes.vocabulary, sizes.width},
            biased ? bias.exact.data() : nullptr,
            Element::float64};
  }
  LinearInput onDevice() const {
    return {{hidden.device(), hidden.element, sizes.rows, sizes.width},
            {weight.device(), weight.element, sizes.vocabulary, sizes.width},
            biased ? bias.device() : nullptr,
            bias.element};
  }
  bool onTensorCores() const {
    return hidden.element == weight.element &&
           (hidden.element == Element::bfloat16 || hidden.element == Element::float16);
  }
  // By how much a logit over the temperature may be off: products/product.h.
  double logitBound() const {
    if (hidden.element == Element::float64) return 1e-14 * products / temperature;
    const double terms = onTensorCores() ? 4 * (static_cast<double>(sizes.width) / 16 + 2)
                                         : static_cast<double>(std::min<int64_t>(sizes.width, 256) + 2);
    return terms * 0x1p-24 * products / temperature;
  }
};

template <class T>
bool within(const std::vector<T>& actual, const std::vector<double>& exact, double own, double fromLogits) {
  for (size_t i = 0; i < exact.size(); i++) {
    const double a = static_cast<double>(actual[i]), e = exact[i];
    if (std::fabs(a - e) <= own * std::fmax(1, std::fabs(e)) + fromLogits) continue;
    std::fprintf(stderr, "at %zu: %.9g, expected %.9g, bounds %.3g and %.3g\n", i, a, e, own, fromLogits);
    return false;
  }
  return true;
}

template <class T>
bool nearNorm(const char* what, const std::vector<T>& actual, const std::vector<double>& exact, double bound,
              double size) {
  const Norms norms = normsOf(actual, exact);
  if (norms.difference <= bound * std::fmax(norms.expected, size)) return true;
  std::fprintf(stderr, "%s: off by %.3g of a norm of %.3g (%.3g), bound %.3g\n", what, norms.difference, norms.expected,
               norms.difference / norms.expected, bound);
  return false;
}

template <class T>
void agrees(const Problem& problem, bool withEntropy) {
  const Sizes& sizes = problem.sizes;
  const size_t rows = static_cast<size_t>(sizes.rows);
  const double own = sizeof(T) == sizeof(double) ? 1e-13 : 1e-6, off = problem.logitBound();
  Results<double> exact(rows);
  CHECK(logprob<double>().linearForward(problem.onHost(), problem.targets.data(), problem.temperature, exact.out(),
                                        kGoOn) == kOk);
  const DeviceResults<T> got(rows);
  const StatusWord status;
  logProbLinearForward<T>(problem.onDevice(), problem.deviceTargets.get(), problem.temperature, got.out(), status.get(),
                          nullptr);
  CHECK(status.read() == kOk);
  const double nats = 2 + 2 * std::log(static_cast<double>(sizes.vocabulary));
  CHECK(within(got.logProbs.download(), exact.logProbs, own, 2 * off));
  CHECK(within(got.entropy.download(), exact.entropy, own, nats * off));
  CHECK(within(got.squares.download(), exact.squares, own, 4 * off));
  CHECK(within(got.logSumExp.download(), exact.logSumExp, own, off));

  Deviates random(5);
  const std::vector<double> upstream = Stored::roundedTo(
      random.many<double>(2 * rows, 1e-4), sizeof(T) == sizeof(double) ? Element::float64 : Element::float32);
  const std::vector<double> gradLogProbs(upstream.begin(), upstream.begin() + sizes.rows),
      gradEntropy(upstream.begin() + sizes.rows, upstream.end());
  const size_t hiddenSize = problem.hidden.exact.size(), weightSize = problem.weight.exact.size(),
               biasSize = problem.bias.exact.size();
  std::vector<double> hidden(hiddenSize), weight(weightSize), bias(biasSize);
  CHECK(logprob<double>().linearBackward(problem.onHost(), problem.targets.data(), problem.temperature,
                                         {exact.logSumExp.data(), exact.entropy.data(), gradLogProbs.data(),
                                          withEntropy ? gradEntropy.data() : nullptr},
                                         {hidden.data(), weight.data(), problem.biased ? bias.data() : nullptr},
                                         kGoOn) == kOk);

  const Uploaded<T> deviceLogProbs(std::vector<T>(gradLogProbs.begin(), gradLogProbs.end())),
      deviceEntropy(std::vector<T>(gradEntropy.begin(), gradEntropy.end()));
  const Output<T> gotHidden(hiddenSize), gotWeight(weightSize), gotBias(biasSize);
  logProbLinearBackward<T>(
      problem.onDevice(), problem.deviceTargets.get(), problem.temperature,
      {got.logSumExp.get(), got.entropy.get(), deviceLogProbs.get(), withEntropy ? deviceEntropy.get() : nullptr},
      {gotHidden.get(), gotWeight.get(), problem.biased ? gotBias.get() : nullptr}, status.get(), nullptr);
  CHECK(status.read() == kOk);
  const double storage = !problem.onTensorCores() ? 0 : problem.hidden.element == Element::bfloat16 ? 0x1p-8 : 0x1p-11;
  const double bound = storage + 4 * own + nats * off;
  // What gradients are sums of: where they cancel, that is what errors are relative to.
  const double size = normsOf(gradLogProbs, std::vector<double>(rows)).difference / problem.temperature;
  CHECK(nearNorm("hidden", gotHidden.download(), hidden, bound, size));
  CHECK(nearNorm("weight", gotWeight.download(), weight, bound, size));
  CHECK(nearNorm("bias", gotBias.download(), bias, 4 * own + nats * off, size));
}

template <class T>
void allOf(Element hidden, Element weight) {
  const Sizes all[] = {{1, 1, 1},     {3, 16, 7},  {3, 33, 257}, {1, 130, 1000}, {65, 16, 257},
                       {65, 1, 1000}, {3, 130, 1}, {65, 33, 7},  {3, 16, 1000}};
  bool flag = false;
  for (const Sizes& sizes : all) {
    flag = !flag;
    agrees<T>(Problem(sizes, hidden, weight, flag, flag ? 1 : .7), flag);
  }
  agrees<T>(Problem({65, 130, 1000}, hidden, weight, true, 1.3), true);
}

// Several chunks of rows and of the vocabulary.
template <class T>
void chunksAgree(const Sizes& sizes, Element element) {
  chunkLimit() = kChunkLimit;
  agrees<T>(Problem(sizes, element, element, true, 1), true);
  chunkLimit() = INT64_MAX;
}

// With products of our own a row gives the same bits whatever the batch, the blocks and the chunks.
void bitsDependOnTheRowAlone(Element element) {
  chooseProducts(Products::own);
  const auto sameAlone = [&](const Sizes& sizes, int64_t limit) {
    const Problem problem(sizes, element, element, false, 1);
    const size_t rows = static_cast<size_t>(sizes.rows);
    const DeviceResults<float> together(rows), alone(1);
    const StatusWord status;
    LinearInput in = problem.onDevice();
    logProbLinearForward<float>(in, problem.deviceTargets.get(), .8, together.out(), status.get(), nullptr);
    in.hidden.rows = 1;
    chunkLimit() = limit;
    logProbLinearForward<float>(in, problem.deviceTargets.get(), .8, alone.out(), status.get(), nullptr);
    chunkLimit() = INT64_MAX;
    CHECK(together.logProbs.download()[0] == alone.logProbs.download()[0]);
    CHECK(together.logSumExp.download()[0] == alone.logSumExp.download()[0]);
    CHECK(together.entropy.download()[0] == alone.entropy.download()[0]);
  };
  sameAlone({130, 40, 600}, INT64_MAX);
  sameAlone({5, 16, 17000}, kChunkLimit);
  chooseProducts(Products::library);
}

// Scratch is bounded, and little where the problem is small.
void scratchIsSmall() {
  const Problem problem({65, 33, 257}, Element::float32, Element::float32, false, 1);
  const DeviceResults<float> got(65);
  const StatusWord status;
  const size_t before = memoryStats().inUse;
  resetPeak();
  logProbLinearForward<float>(problem.onDevice(), problem.deviceTargets.get(), 1, got.out(), status.get(), nullptr);
  CHECK(memoryStats().peak - before < 2 * 65 * 264 * sizeof(float));
}

void badRowsAreReported() {
  for (const Element element : {Element::float32, Element::bfloat16, Element::float16}) {
    Problem problem({65, 16, 300}, element, element, false, 1);
    std::vector<double> values = problem.hidden.exact;
    values[40 * 16 + 3] = NAN;
    values[50 * 16] = NAN;
    const Stored bad(values, element);
    LinearInput in = problem.onDevice();
    in.hidden.data = bad.device();
    const DeviceResults<float> got(65);
    const StatusWord status;
    logProbLinearForward<float>(in, problem.deviceTargets.get(), 1, got.out(), status.get(), nullptr);
    CHECK(status.read() == 40);

    // A logsumexp that is not the row's.
    logProbLinearForward<float>(problem.onDevice(), problem.deviceTargets.get(), 1, got.out(), status.get(), nullptr);
    std::vector<double> logSumExp = got.logSumExp.download();
    logSumExp[7] += 1;
    logSumExp[9] = NAN;
    const Uploaded<double> wrong(logSumExp);
    const Uploaded<float> upstream(std::vector<float>(65, 1));
    const Output<float> hidden(65 * 16), weight(300 * 16);
    logProbLinearBackward<float>(problem.onDevice(), problem.deviceTargets.get(), 1,
                                 {wrong.get(), nullptr, upstream.get(), nullptr}, {hidden.get(), weight.get(), nullptr},
                                 status.get(), nullptr);
    CHECK(status.read() == 7);
  }
}

// No rows: nothing to learn.
void emptyBatch() {
  const Stored weight(std::vector<double>(12, 1), Element::float32);
  const Output<float> gradient(12), bias(4);
  const StatusWord status;
  logProbLinearBackward<float>(
      {{nullptr, Element::float32, 0, 3}, {weight.device(), Element::float32, 4, 3}, nullptr, Element::float32},
      nullptr, 1, {nullptr, nullptr, nullptr, nullptr}, {nullptr, gradient.get(), bias.get()}, status.get(), nullptr);
  CHECK(status.read() == kOk);
  CHECK(gradient.download() == std::vector<float>(12));
  CHECK(bias.download() == std::vector<float>(4));
}

}  // namespace

int main() {
  return runOnDevice([] {
    allOf<float>(Element::float32, Element::float32);
    allOf<float>(Element::bfloat16, Element::bfloat16);
    allOf<float>(Element::float16, Element::float16);
    allOf<float>(Element::float32, Element::bfloat16);
    allOf<double>(Element::float64, Element::float64);
    agrees<float>(Problem({3, 33, 257}, Element::bfloat16, Element::float16, true, 1), true);
    chunksAgree<float>({5, 12, 4200}, Element::float32);
    chunksAgree<float>({5, 12, 4200}, Element::bfloat16);
    chunksAgree<double>({9, 8, 2100}, Element::float64);
    bitsDependOnTheRowAlone(Element::float32);
    bitsDependOnTheRowAlone(Element::bfloat16);
    scratchIsSmall();
    badRowsAreReported();
    emptyBatch();
  });
}
