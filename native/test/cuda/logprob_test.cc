// Token log-probs and their gradients on the device: against float64 on the logits as stored, and against the CPU
// kernel of the same element type.
#include "device_logprobs.h"
#include "stored.h"

using namespace minform;
using namespace minform::cuda;

namespace {

const CancelFlag kGoOn{false};

// Logits as stored, and as float64.
template <class Stored>
struct Logits {
  Element element;
  std::vector<Stored> stored;
  std::vector<double> exact;
};

// Mostly of a size like real logits, around `offset` where the type is wide; every seventh is -Infinity where `holes`
// are asked for.
template <class Stored>
Logits<Stored> makeLogits(Element element, size_t count, bool holes, double offset) {
  Deviates random(11);
  Logits<Stored> made{element, {}, {}};
  for (size_t i = 0; i < count; i++) {
    double value = random.next() * 8 + offset;
    Stored stored;
    if (element == Element::float16) {
      stored = static_cast<Stored>((random.bits() & 0x83FF) | (12 + random.bits() % 7) << 10);
      value = fromHalf(static_cast<uint16_t>(stored));
    } else if (element == Element::bfloat16) {
      stored = static_cast<Stored>((random.bits() & 0x807F) | (124 + random.bits() % 7) << 7);
      value = fromBfloat16(static_cast<uint16_t>(stored));
    } else {
      stored = static_cast<Stored>(value);
      value = static_cast<double>(stored);
    }
    if (holes && i % 7 == 3) {
      value = -INFINITY;
      stored = element == Element::float16    ? static_cast<Stored>(0xFC00)
               : element == Element::bfloat16 ? static_cast<Stored>(0xFF80)
                                              : static_cast<Stored>(value);
    }
    made.stored.push_back(stored);
    made.exact.push_back(value);
  }
  return made;
}

template <class T, class U>
bool within(const std::vector<T>& actual, const std::vector<U>& exact, double bound) {
  for (size_t i = 0; i < exact.size(); i++) {
    const double a = static_cast<double>(actual[i]), e = static_cast<double>(exact[i]);
    if (a == e) continue;
    if (!(std::fabs(a - e) <= bound * std::fmax(1, std::fabs(e)))) {
      std::fprintf(stderr, "at %zu: %.9g, expected %.9g\n", i, a, e);
      return false;
    }
  }
  return true;
}

template <class Stored>
std::vector<double> widened(const std::vector<Stored>& values, Element element) {
  std::vector<double> wide;
  for (const Stored value : values) {
    wide.push_back(element == Element::float16    ? fromHalf(static_cast<uint16_t>(value))
                   : element == Element::bfloat16 ? fromBfloat16(static_cast<uint16_t>(value))
                                                  : static_cast<double>(value));
  }
  return wide;
}

std::vector<int32_t> targetsFor(size_t rows, size_t columns) {
  std::vector<int32_t> targets;
  for (size_t row = 0; row < rows; row++) targets.push_back(static_cast<int32_t>((row * 2654435761u + 3) % columns));
  if (rows > 1) targets[1] = static_cast<int32_t>(columns - 1);
  return targets;
}

template <class T, class Stored>
void agrees(Element element, int64_t rows, int64_t columns, double temperature, bool holes, double offset = 3) {
  const size_t count = static_cast<size_t>(rows * columns), rowCount = static_cast<size_t>(rows);
  const Logits<Stored> logits = makeLogits<Stored>(element, count, holes && columns > 4, offset);
  const std::vector<int32_t> targets = targetsFor(rowCount, static_cast<size_t>(columns));
  const double bound = element == Element::float64 ? 1e-13 : 1e-6;

  Results<double> exact(rowCount);
  const Matrix exactMatrix{logits.exact.data(), Element::float64, rows, columns};
  CHECK(logprob<double>().forward(exactMatrix, targets.data(), temperature, exact.out(), kGoOn) == kOk);

  const Uploaded<Stored> stored(logits.stored);
  const Uploaded<int32_t> deviceTargets(targets);
  const DeviceResults<T> got(rowCount);
  const StatusWord status;
  const Matrix onDevice{stored.get(), element, rows, columns};
  logProbForward<T>(onDevice, deviceTargets.get(), temperature, got.out(), status.get(), nullptr);
  CHECK(status.read() == kOk);
  CHECK(within(got.logProbs.download(), exact.logProbs, bound));
  CHECK(within(got.entropy.download(), exact.entropy, bound));
  CHECK(within(got.squares.download(), exact.squares, bound));
  CHECK(within(got.logSumExp.download(), exact.logSumExp, bound));

  // Without the optional results the others have the same bits.
  const Output<T> logProbs(rowCount);
  const Output<double> logSumExp(rowCount);
  logProbForward<T>(onDevice, deviceTargets.get(), temperature, {logProbs.get(), nullptr, nullptr, logSumExp.get()},
                    status.get(), nullptr);
  CHECK(sameBits(logProbs.download(), got.logProbs.download()));
  CHECK(sameBits(logSumExp.download(), got.logSumExp.download()));

  for (const bool withEntropy : {false, true}) {
    Deviates random(5);
    std::vector<double> gradLogProbs, gradEntropy;
    for (size_t row = 0; row < rowCount; row++) {
      gradLogProbs.push_back(static_cast<float>(random.next()));
      gradEntropy.push_back(static_cast<float>(random.next()));
    }
    std::vector<double> expected(count);
    CHECK(logprob<double>().backward(exactMatrix, targets.data(), temperature,
                                     {exact.logSumExp.data(), exact.entropy.data(), gradLogProbs.data(),
                                      withEntropy ? gradEntropy.data() : nullptr},
                                     expected.data(), kGoOn) == kOk);
    const Uploaded<T> one(std::vector<T>(gradLogProbs.begin(), gradLogProbs.end())),
        two(std::vector<T>(gradEntropy.begin(), gradEntropy.end()));
    const LogProbGradients<T> in{got.logSumExp.get(), got.entropy.get(), one.get(), withEntropy ? two.get() : nullptr};
    const Output<Stored> grad(count);
    logProbBackward<T>(onDevice, deviceTargets.get(), temperature, in, grad.get(), status.get(), nullptr);
    CHECK(status.read() == kOk);
    // A narrow element rounds the gradient once: relative to its value, or in the last place of the subnormals.
    const double storage = element == Element::bfloat16 ? 0x1p-8 : element == Element::float16 ? 0x1p-11 : 0;
    const double faintest = element == Element::float16 ? 0x1p-25 : 0;
    const std::vector<double> gradient = widened(grad.download(), element);
    const Norms norms = normsOf(gradient, expected);
    CHECK(norms.difference <=
          (2 * bound + storage) * norms.expected + faintest * std::sqrt(static_cast<double>(count)));
    CHECK(within(gradient, expected, bound + storage));
    for (size_t i = 0; i < count; i++) {
      if (logits.exact[i] == -INFINITY) CHECK(grad.download()[i] == Stored(0));
      if (logits.exact[i] == -INFINITY) break;
    }

    // The output may be the logits themselves.
    const Uploaded<Stored> inPlace(logits.stored);
    logProbBackward<T>({inPlace.get(), element, rows, columns}, deviceTargets.get(), temperature, in, inPlace.get(),
                       status.get(), nullptr);
    std::vector<Stored> written(count);
    copyToHost(written.data(), inPlace.get(), count * sizeof(Stored), nullptr);
    CHECK(sameBits(written, grad.download()));
  }
}

// A row's bits are the same wherever in memory it lies, in whatever batch.
template <class T, class Stored>
void bitsDependOnTheRowAlone(Element element) {
  const int64_t columns = 1003;
  const std::vector<Stored> row = makeLogits<Stored>(element, static_cast<size_t>(columns), true, 3).stored;
  std::vector<Stored> many;
  for (int i = 0; i < 9; i++) many.insert(many.end(), row.begin(), row.end());
  const Uploaded<Stored> stored(many);
  const Uploaded<int32_t> targets(std::vector<int32_t>(9, 5));
  const DeviceResults<T> got(9), alone(1);
  const StatusWord status;
  logProbForward<T>({stored.get(), element, 9, columns}, targets.get(), .7, got.out(), status.get(), nullptr);
  logProbForward<T>({stored.get() + columns, element, 1, columns}, targets.get(), .7, alone.out(), status.get(),
                    nullptr);
  for (size_t i = 0; i < 9; i++) {
    CHECK(got.logProbs.download()[i] == alone.logProbs.download()[0]);
    CHECK(got.entropy.download()[i] == alone.entropy.download()[0]);
    CHECK(got.logSumExp.download()[i] == alone.logSumExp.download()[0]);
  }
}

template <class T>
int64_t statusOf(Element element, const std::vector<T>& logits, int64_t rows) {
  const Uploaded<T> stored(logits);
  const Uploaded<int32_t> targets(std::vector<int32_t>(static_cast<size_t>(rows), 0));
  const DeviceResults<T> got(static_cast<size_t>(rows));
  const StatusWord status;
  logProbForward<T>({stored.get(), element, rows, static_cast<int64_t>(logits.size()) / rows}, targets.get(), 1,
                    got.out(), status.get(), nullptr);
  return status.read();
}

template <class T>
void undefinedRowsAreReported(Element element) {
  const T infinite = T(INFINITY);
  CHECK(statusOf<T>(element, {0, 1, -infinite, 2}, 2) == kOk);
  CHECK(statusOf<T>(element, {0, 1, -infinite, -infinite, 1, T(NAN)}, 3) == 1);
  CHECK(statusOf<T>(element, {0, 1, 2, infinite, T(NAN), 2}, 3) == 1);
  CHECK(statusOf<T>(element, {0, T(NAN), -infinite, T(NAN)}, 2) == 0);
  std::vector<T> long_(9000, T(1));
  long_[8999] = T(NAN);
  CHECK(statusOf<T>(element, long_, 1) == 0);

  const Uploaded<T> stored(std::vector<T>{0, 1, 1, 2});
  const Uploaded<int32_t> targets(std::vector<int32_t>{0, 0});
  const std::vector<double> right{std::log(1 + std::exp(1.0)), 1 + std::log(1 + std::exp(1.0))};
  const auto backwardStatus = [&](std::vector<double> logSumExp, std::vector<T> upstream) {
    const Uploaded<double> sums(logSumExp);
    const Uploaded<T> grads(upstream);
    const Output<T> out(4);
    const StatusWord status;
    logProbBackward<T>({stored.get(), element, 2, 2}, targets.get(), 1, {sums.get(), nullptr, grads.get(), nullptr},
                       out.get(), status.get(), nullptr);
    return status.read();
  };
  CHECK(backwardStatus(right, {1, 1}) == kOk);
  CHECK(backwardStatus({right[0], right[0]}, {1, 1}) == 1);
  CHECK(backwardStatus({right[0], -1e9}, {1, 1}) == 1);
  CHECK(backwardStatus({right[0], right[1] + 1}, {1, 1}) == 1);
  CHECK(backwardStatus({NAN, right[1]}, {1, 1}) == 0);
  CHECK(backwardStatus(right, {1, T(NAN)}) == 1);
}

// A single token is certain: exactly +0.
void certainty() {
  const Uploaded<float> stored(std::vector<float>{123.456f});
  const Uploaded<int32_t> targets(std::vector<int32_t>{0});
  const DeviceResults<float> got(1);
  const StatusWord status;
  logProbForward<float>({stored.get(), Element::float32, 1, 1}, targets.get(), .37, got.out(), status.get(), nullptr);
  CHECK(got.logProbs.download()[0] == 0 && !std::signbit(got.logProbs.download()[0]));
  CHECK(got.entropy.download()[0] == 0 && got.squares.download()[0] == 1);
}

template <class T, class Stored>
void allOf(Element element) {
  for (const int64_t columns : {1, 7, 33, 1000, 5003}) {
    agrees<T, Stored>(element, 3, columns, 1, false);
    agrees<T, Stored>(element, 2, columns, .7, true);
  }
  agrees<T, Stored>(element, 2, 1000, .7, false, -5000);
  // Two tiles, rows on 16 bytes and not.
  agrees<T, Stored>(element, 1, 16392, 1.5, true);
  agrees<T, Stored>(element, 2, 16393, 1, true);
  bitsDependOnTheRowAlone<T, Stored>(element);
}

}  // namespace

int main() {
  return runOnDevice([] {
    allOf<float, float>(Element::float32);
    allOf<float, uint16_t>(Element::bfloat16);
    allOf<float, uint16_t>(Element::float16);
    allOf<double, double>(Element::float64);
    undefinedRowsAreReported<float>(Element::float32);
    undefinedRowsAreReported<double>(Element::float64);
    certainty();
  });
}
