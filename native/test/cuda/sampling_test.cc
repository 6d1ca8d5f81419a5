// Sampling on the device against the CPU. Weights differ in their last bits, so a draw within 1e-7 of the border of two
// tokens could differ: with the usual seed none does.
#include "minform/cuda/sampling.h"

#include "device_test.h"
#include "stored.h"

using namespace minform;
using namespace minform::cuda;

namespace {

const CancelFlag kGoOn{false};

template <class T>
void agrees(Element element, int64_t rows, int64_t columns, const SamplingRule& rule) {
  Deviates random(13);
  std::vector<double> values;
  std::vector<RandomCounter> counters;
  for (int64_t i = 0; i < rows * columns; i++) {
    // Many ties, and impossible tokens, but never all of a row.
    const double value = std::nearbyint(random.next() * 20) / 4;
    values.push_back(i % columns != 0 && random.bits() % 9 == 0 ? -INFINITY : value);
  }
  for (int64_t row = 0; row < rows; row++) {
    counters.push_back({random.bits(), random.bits(), uint64_t{random.bits()} << 30});
  }
  const Stored logits(values, element);
  const std::vector<T> onHost(logits.exact.begin(), logits.exact.end());
  const size_t count = static_cast<size_t>(rows);
  std::vector<int32_t> tokens(count);
  std::vector<T> logProbs(count), truncated(count);
  CHECK(sampling<T>().sample(
            {onHost.data(), sizeof(T) == sizeof(double) ? Element::float64 : Element::float32, rows, columns}, rule, 7,
            counters.data(), {tokens.data(), logProbs.data(), truncated.data()}, kGoOn) == kOk);

  const Uploaded<RandomCounter> deviceCounters(counters);
  const Output<int32_t> gotTokens(count);
  const Output<T> gotLogProbs(count), gotTruncated(count);
  const StatusWord status;
  sampleTokens<T>({logits.device(), element, rows, columns}, rule, 7, deviceCounters.get(),
                  {gotTokens.get(), gotLogProbs.get(), gotTruncated.get()}, status.get(), nullptr);
  CHECK(status.read() == kOk);
  CHECK(gotTokens.download() == tokens);
  const double bound = sizeof(T) == sizeof(double) ? 2e-12 : 2e-6;
  for (size_t row = 0; row < count; row++) {
    CHECK_NEAR(gotLogProbs.download()[row], logProbs[row], bound * std::fmax(1, std::fabs(logProbs[row])));
    CHECK_NEAR(gotTruncated.download()[row], truncated[row], bound * std::fmax(1, std::fabs(truncated[row])));
  }
}

template <class T>
void allOf(Element element) {
  for (const int64_t columns : {1, 7, 257, 1000, 5001}) {
    const int64_t rows = columns > 1000 ? 2 : 5;
    agrees<T>(element, rows, columns, {1, 0, 1, 0});
    agrees<T>(element, rows, columns, {0, 0, 1, 0});
    agrees<T>(element, rows, columns, {.7, 5, .9, .001});
  }
  agrees<T>(element, 3, 300, {1, 20, 1, 0});
  agrees<T>(element, 3, 300, {1, 0, .5, 0});
  agrees<T>(element, 3, 300, {2, 0, 1, .3});
}

void undefinedRowsAreReported() {
  const float inf = INFINITY;
  const std::vector<std::vector<float>> cases{
      {0, 1, -inf, -inf, NAN, 1}, {0, inf, 1, 1, NAN, NAN}, {0, 1, 1, 1, 1, NAN}};
  const int64_t expected[] = {1, 0, 2};
  for (size_t i = 0; i < cases.size(); i++) {
    const Uploaded<float> logits(cases[i]);
    const Uploaded<RandomCounter> counters(std::vector<RandomCounter>(3));
    const Output<int32_t> tokens(3);
    const StatusWord status;
    sampleTokens<float>({logits.get(), Element::float32, 3, 2}, {1, 0, 1, 0}, 1, counters.get(),
                        {tokens.get(), nullptr, nullptr}, status.get(), nullptr);
    CHECK(status.read() == expected[i]);
  }
}

}  // namespace

int main() {
  return runOnDevice([] {
    allOf<float>(Element::float32);
    allOf<float>(Element::bfloat16);
    allOf<float>(Element::float16);
    allOf<double>(Element::float64);
    undefinedRowsAreReported();
  });
}
