// Credit on the device against the CPU kernels, on rows of no, one, few and many steps, with junk where the mask hides
// it.
#include "minform/cuda/credit.h"

#include "device_test.h"

using namespace minform;
using namespace minform::cuda;

namespace {

const std::vector<int32_t> kLengths{0, 1, 31, 32, 33, 257, 0, 5, 2};

template <class T>
constexpr double kBound = sizeof(T) == sizeof(double) ? 1e-14 : 1e-7;

// Every third element is hidden and holds NaN.
template <class T>
std::vector<uint8_t> hideSome(std::vector<T>& values, Deviates& random) {
  std::vector<uint8_t> mask(values.size(), 1);
  for (size_t i = 0; i < values.size(); i++) {
    if (random.bits() % 3 != 0) continue;
    mask[i] = 0;
    values[i] = T(NAN);
  }
  return mask;
}

template <class T>
struct Problem {
  Deviates random{7};
  std::vector<int32_t> offsets = offsetsOf(kLengths);
  size_t rows = kLengths.size(), total = static_cast<size_t>(offsets.back());
  std::vector<T> rewards = random.many<T>(total, 1);
  std::vector<uint8_t> mask;
  std::vector<int32_t> stepEnds = std::vector<int32_t>(total);

  explicit Problem(bool masked) {
    if (masked) mask = hideSome(rewards, random);
    for (size_t row = 0; row < rows; row++) {
      int32_t end = -1;
      for (int32_t i = offsets[row]; i < offsets[row + 1]; i++) {
        end += 1 + static_cast<int32_t>(random.bits() % 9);
        stepEnds[static_cast<size_t>(i)] = end;
      }
    }
  }
  const uint8_t* maskOrNull() const { return mask.empty() ? nullptr : mask.data(); }
  Rows hostRows() const { return {offsets.data(), static_cast<int64_t>(rows)}; }
};

template <class T>
void assignAgrees(CreditForm form, bool masked, bool byToken, double parameter) {
  const Problem<T> problem(masked);
  const size_t rows = problem.rows, total = problem.total;
  const bool weighted = form == CreditForm::minForm || form == CreditForm::mean;
  std::vector<T> credited(total), returns(total), outcomes(rows), weights(weighted ? total : 0);
  const CreditInput<T> host{problem.hostRows(), problem.rewards.data(), problem.maskOrNull(),
                            byToken ? problem.stepEnds.data() : nullptr, parameter};
  CHECK(credit<T>().assign(form, host, {credited.data(), returns.data(), outcomes.data(), weights.data()}) == kOk);

  const Uploaded<int32_t> offsets(problem.offsets), stepEnds(problem.stepEnds);
  const Uploaded<T> rewards(problem.rewards);
  const Uploaded<uint8_t> mask(problem.mask);
  const Output<T> gotCredited(total), gotReturns(total), gotOutcomes(rows), gotWeights(weights.size());
  const StatusWord status;
  creditAssign<T>(
      form,
      {{offsets.get(), host.steps.count}, rewards.get(), mask.get(), byToken ? stepEnds.get() : nullptr, parameter},
      {gotCredited.get(), gotReturns.get(), gotOutcomes.get(), gotWeights.get()}, status.get(), nullptr);
  CHECK(status.read() == kOk);
  CHECK(normRatio(gotCredited.download(), credited) <= kBound<T>);
  CHECK(normRatio(gotReturns.download(), returns) <= kBound<T>);
  CHECK(normRatio(gotOutcomes.download(), outcomes) <= kBound<T>);
  CHECK(normRatio(gotWeights.download(), weights) <= kBound<T>);
  for (size_t i = 0; i < total && masked; i++) {
    if (problem.mask[i] != 0) continue;
    CHECK(gotCredited.download()[i] == 0 && !std::signbit(gotCredited.download()[i]));
    break;
  }
}

template <class T>
void backwardAgrees(bool masked, double temperature, int streams) {
  Problem<T> problem(masked);
  const size_t rows = problem.rows, total = problem.total;
  const std::vector<T> one = problem.random.template many<T>(total, 1), two = problem.random.template many<T>(total, 1),
                       three = problem.random.template many<T>(rows, 1);
  const auto chosen = [&](int bit, const T* data) { return (streams >> bit & 1) != 0 ? data : nullptr; };
  std::vector<T> expected(total);
  const CreditInput<T> host{problem.hostRows(), problem.rewards.data(), problem.maskOrNull(), nullptr, temperature};
  CHECK(credit<T>().minFormBackward(host, {chosen(0, one.data()), chosen(1, two.data()), chosen(2, three.data())},
                                    expected.data()) == kOk);

  const Uploaded<int32_t> offsets(problem.offsets);
  const Uploaded<T> rewards(problem.rewards), gradOne(one), gradTwo(two), gradThree(three);
  const Uploaded<uint8_t> mask(problem.mask);
  const Output<T> got(total);
  const StatusWord status;
  creditMinFormBackward<T>({{offsets.get(), host.steps.count}, rewards.get(), mask.get(), nullptr, temperature},
                           {chosen(0, gradOne.get()), chosen(1, gradTwo.get()), chosen(2, gradThree.get())}, got.get(),
                           status.get(), nullptr);
  CHECK(status.read() == kOk);
  CHECK(normRatio(got.download(), expected) <= kBound<T>);
}

template <class T>
void placingAgrees(Place place, bool masked) {
  Problem<T> problem(false);
  std::vector<int32_t> lengths;
  for (size_t row = 0; row < problem.rows; row++) {
    const int32_t begin = problem.offsets[row], end = problem.offsets[row + 1];
    // Rows end after their last step, and one without steps has tokens all the same.
    lengths.push_back(begin == end ? 3 : problem.stepEnds[static_cast<size_t>(end) - 1] + 1 + end % 3);
  }
  const std::vector<int32_t> tokenOffsets = offsetsOf(lengths);
  const size_t tokens = static_cast<size_t>(tokenOffsets.back());
  std::vector<uint8_t> mask, zeroAt;
  for (size_t i = 0; i < tokens && masked; i++) {
    mask.push_back(problem.random.bits() % 4 != 0);
    zeroAt.push_back(problem.random.bits() % 4 == 0);
  }
  std::vector<T> expected(tokens);
  credit<T>().placeSteps({tokenOffsets.data(), problem.hostRows().count}, problem.hostRows(), problem.stepEnds.data(),
                         problem.rewards.data(), place, masked ? zeroAt.data() : nullptr,
                         masked ? mask.data() : nullptr, expected.data());

  const Uploaded<int32_t> offsets(problem.offsets), rowOffsets(tokenOffsets), stepEnds(problem.stepEnds);
  const Uploaded<T> values(problem.rewards);
  const Uploaded<uint8_t> deviceMask(mask), deviceZeroAt(zeroAt);
  const Output<T> got(tokens);
  creditPlaceSteps<T>({rowOffsets.get(), problem.hostRows().count}, {offsets.get(), problem.hostRows().count},
                      stepEnds.get(), values.get(), place, deviceZeroAt.get(), deviceMask.get(), got.get(), nullptr);
  CHECK(sameBits(got.download(), expected));
}

template <class T>
void returnsAgree(double gamma, bool masked) {
  const Problem<T> problem(masked);
  std::vector<T> expected(problem.total);
  CHECK(credit<T>().returns(problem.hostRows(), problem.rewards.data(), problem.maskOrNull(), gamma, expected.data()) ==
        kOk);
  const Uploaded<int32_t> offsets(problem.offsets);
  const Uploaded<T> rewards(problem.rewards);
  const Uploaded<uint8_t> mask(problem.mask);
  const Output<T> got(problem.total);
  const StatusWord status;
  creditReturns<T>({offsets.get(), problem.hostRows().count}, rewards.get(), mask.get(), gamma, got.get(), status.get(),
                   nullptr);
  CHECK(status.read() == kOk);
  CHECK(normRatio(got.download(), expected) <= kBound<T>);
}

// The lowest index of several bad values, whichever block meets its own first.
template <class T>
void badValuesAreReported() {
  Problem<T> problem(false);
  problem.rewards[50] = T(INFINITY);
  problem.rewards[320] = T(NAN);
  const Uploaded<int32_t> offsets(problem.offsets);
  const Uploaded<T> rewards(problem.rewards);
  const size_t total = problem.total;
  const Output<T> one(total), two(total), three(problem.rows), four(total);
  const StatusWord status;
  const CreditInput<T> in{{offsets.get(), problem.hostRows().count}, rewards.get(), nullptr, nullptr, .1};
  creditAssign<T>(CreditForm::minForm, in, {one.get(), two.get(), three.get(), four.get()}, status.get(), nullptr);
  CHECK(status.read() == 50);
  creditMinFormBackward<T>(in, {nullptr, nullptr, nullptr}, one.get(), status.get(), nullptr);
  CHECK(status.read() == 50);
  creditReturns<T>(in.steps, in.rewards, nullptr, 1, one.get(), status.get(), nullptr);
  CHECK(status.read() == 50);
}

template <class T>
void allOf() {
  for (const bool masked : {false, true}) {
    for (const double temperature : {.1, 1e-40, 3.0}) assignAgrees<T>(CreditForm::minForm, masked, false, temperature);
    for (const CreditForm form : {CreditForm::strictMinForm, CreditForm::sum, CreditForm::mean, CreditForm::product}) {
      assignAgrees<T>(form, masked, false, 0);
    }
    for (const double gamma : {0.0, .9, 1.0}) {
      assignAgrees<T>(CreditForm::gammaDecay, masked, false, gamma);
      assignAgrees<T>(CreditForm::gammaDecay, masked, true, gamma);
      returnsAgree<T>(gamma, masked);
    }
    for (int streams = 0; streams < 8; streams++) backwardAgrees<T>(masked, .3, streams);
    placingAgrees<T>(Place::end, masked);
    placingAgrees<T>(Place::span, masked);
  }
  badValuesAreReported<T>();
}

}  // namespace

int main() {
  return runOnDevice([] {
    allOf<float>();
    allOf<double>();
  });
}
