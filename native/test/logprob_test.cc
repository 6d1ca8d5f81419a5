// Log-probs, entropy and gradients through the kernel table of the ISA level in use: golden values, float32 against
// float64, fused against unfused, and the same bits for every number of threads.
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "check.h"
#include "logprob_results.h"

using namespace minform;

static const double kInfinity = std::numeric_limits<double>::infinity();
static const CancelFlag kGoOn{false};

template <class T>
struct Kind;
template <>
struct Kind<float> {
  static constexpr Element element = Element::float32;
};
template <>
struct Kind<double> {
  static constexpr Element element = Element::float64;
};

// Deviates that are roughly normal, the same every time.
template <class T>
static std::vector<T> deviates(size_t count, uint32_t seed, double scale) {
  std::vector<T> out(count);
  for (T& x : out) {
    double sum = -2;
    for (int i = 0; i < 4; i++) {
      seed = seed * 1664525 + 1013904223;
      sum += seed / 4294967296.0;
    }
    x = static_cast<T>(static_cast<float>(sum * scale));
  }
  return out;
}

template <class T>
static void golden(double bound) {
  const T logits[] = {1, 2, 3, 0, 0, T(-kInfinity), 5, 5, 5};
  const int32_t targets[] = {0, 1, 2};
  const Matrix matrix{logits, Kind<T>::element, 3, 3};
  Results<T> results(3);
  CHECK(logprob<T>().forward(matrix, targets, 1, results.out(), kGoOn) == kOk);
  CHECK_NEAR(results.logProbs[0], -2.4076059644443806, bound);
  CHECK_NEAR(results.entropy[0], .8323955818399389, bound);
  CHECK_NEAR(results.entropy[1], std::log(2.0), bound);
  CHECK_NEAR(results.squares[2], 1 / 3.0, bound);
  CHECK_NEAR(results.logSumExp[2], 5 + std::log(3.0), bound);

  const T gradLogProbs[] = {0, 0, 1}, gradEntropy[] = {1, 1, 0};
  T grad[9];
  CHECK(logprob<T>().backward(matrix, targets, 1,
                              {results.logSumExp.data(), results.entropy.data(), gradLogProbs, gradEntropy}, grad,
                              kGoOn) == kOk);
  CHECK_NEAR(grad[0], .14181709360981215, bound);
  CHECK_NEAR(grad[2], -.28258745107944205, bound);
  CHECK(grad[5] == 0 && !std::signbit(grad[5]));
  CHECK_NEAR(grad[8], 2 / 3.0, bound);

  const int32_t narrow[] = {0, 1, 1};
  const T bad[] = {1, T(NAN), 0, T(-kInfinity), T(-kInfinity), 1};
  Results<T> none(3);
  CHECK(logprob<T>().forward({bad + 2, Kind<T>::element, 2, 2}, narrow, 1, none.out(), kGoOn) == kOk);
  CHECK(logprob<T>().forward({bad, Kind<T>::element, 3, 2}, narrow, 1, none.out(), kGoOn) == 0);
  CHECK(logprob<T>().forward({bad + 3, Kind<T>::element, 1, 2}, narrow, 1, none.out(), kGoOn) == 0);
}

static void singleAgainstDouble() {
  const int64_t rows = 3, columns = 70001;
  const auto single = deviates<float>(rows * columns, 5, 12);
  const std::vector<double> wide(single.begin(), single.end());
  const int32_t targets[] = {17, 69999, 0};
  Results<float> a(rows);
  Results<double> b(rows);
  logprob<float>().forward({single.data(), Element::float32, rows, columns}, targets, .9, a.out(), kGoOn);
  logprob<double>().forward({wide.data(), Element::float64, rows, columns}, targets, .9, b.out(), kGoOn);
  for (int i = 0; i < rows; i++) {
    CHECK_NEAR(a.logProbs[i], b.logProbs[i], 1e-6 * std::fmax(1, std::fabs(b.logProbs[i])));
    CHECK_NEAR(a.entropy[i], b.entropy[i], 1e-6 * std::fmax(1, b.entropy[i]));
    CHECK_NEAR(a.squares[i], b.squares[i], 1e-6);
    CHECK_NEAR(a.logSumExp[i], b.logSumExp[i], 1e-6);
  }
}

template <class T>
static bool sameBits(const std::vector<T>& a, const std::vector<T>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T>
static void fusedAgainstUnfused(double bound) {
  const int64_t rows = 37, width = 300, vocabulary = 451;
  const auto hidden = deviates<T>(rows * width, 1, 1), weight = deviates<T>(vocabulary * width, 2, .2),
             bias = deviates<T>(vocabulary, 3, 1);
  std::vector<T> logits(rows * vocabulary), gradLogits(logits.size());
  std::vector<int32_t> targets(rows);
  for (int64_t i = 0; i < rows; i++) {
    targets[i] = static_cast<int32_t>(i * 31 % vocabulary);
    for (int64_t v = 0; v < vocabulary; v++) {
      double sum = bias[v];
      for (int64_t k = 0; k < width; k++) sum += static_cast<double>(hidden[i * width + k]) * weight[v * width + k];
      logits[i * vocabulary + v] = static_cast<T>(sum);
    }
  }
  const Element element = Kind<T>::element;
  const Matrix explicitLogits{logits.data(), element, rows, vocabulary};
  const LinearInput in{
      {hidden.data(), element, rows, width}, {weight.data(), element, vocabulary, width}, bias.data(), element};
  const auto gradLogProbs = deviates<T>(rows, 4, 1), gradEntropy = deviates<T>(rows, 5, 1);
  Results<T> unfused(rows), fused(rows), again(rows);
  CHECK(logprob<T>().forward(explicitLogits, targets.data(), 1, unfused.out(), kGoOn) == kOk);
  std::vector<T> gradHidden[2], gradWeight[2], gradBias[2];
  for (int run = 0; run < 2; run++) {
    setNumThreads(run == 0 ? 1 : 3);
    Results<T>& results = run == 0 ? fused : again;
    CHECK(logprob<T>().linearForward(in, targets.data(), 1, results.out(), kGoOn) == kOk);
    gradHidden[run].resize(hidden.size());
    gradWeight[run].resize(weight.size());
    gradBias[run].resize(bias.size());
    CHECK(logprob<T>().linearBackward(
              in, targets.data(), 1,
              {results.logSumExp.data(), results.entropy.data(), gradLogProbs.data(), gradEntropy.data()},
              {gradHidden[run].data(), gradWeight[run].data(), gradBias[run].data(), false}, kGoOn) == kOk);
  }
  CHECK(sameBits(fused.logProbs, again.logProbs) && sameBits(fused.entropy, again.entropy) &&
        sameBits(fused.logSumExp, again.logSumExp));
  CHECK(sameBits(gradHidden[0], gradHidden[1]) && sameBits(gradWeight[0], gradWeight[1]) &&
        sameBits(gradBias[0], gradBias[1]));
  for (int64_t i = 0; i < rows; i++) {
    CHECK_NEAR(fused.logProbs[i], unfused.logProbs[i], bound);
    CHECK_NEAR(fused.entropy[i], unfused.entropy[i], bound);
  }
  CHECK(
      logprob<T>().backward(explicitLogits, targets.data(), 1,
                            {unfused.logSumExp.data(), unfused.entropy.data(), gradLogProbs.data(), gradEntropy.data()},
                            gradLogits.data(), kGoOn) == kOk);
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t k = 0; k < width; k += 37) {
      double sum = 0;
      for (int64_t v = 0; v < vocabulary; v++)
        sum += static_cast<double>(gradLogits[i * vocabulary + v]) * weight[v * width + k];
      CHECK_NEAR(gradHidden[0][i * width + k], sum, bound);
    }
  }
}

static void stopsWhenAsked() {
  const CancelFlag stop{true};
  std::vector<float> logits(100, 1.0f);
  const int32_t target[] = {0};
  Results<float> results(1);
  results.logProbs[0] = 7;
  logprob<float>().forward({logits.data(), Element::float32, 1, 100}, target, 1, results.out(), stop);
  CHECK(results.logProbs[0] == 7);
}

int main() {
  golden<float>(3e-7);
  golden<double>(1e-14);
  singleAgainstDouble();
  fusedAgainstUnfused<float>(1e-5);
  fusedAgainstUnfused<double>(1e-12);
  stopsWhenAsked();
  return checkResult();
}
