// Golden values of min-form credit assignment (arXiv 2504.15275), through the kernel table of the ISA level in use.
#include "minform/credit.h"

#include <cmath>
#include <limits>

#include "check.h"

using namespace minform;

static const double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class T>
static void softMinForm(double bound) {
  const int32_t offsets[] = {0, 3, 3, 6};
  const T rewards[] = {T(.9), T(-.2), T(.5), T(.8), T(kNaN), T(.8)};
  const uint8_t mask[] = {1, 1, 1, 1, 0, 1};
  T credited[6], returns[6], outcomes[3], weights[6];
  const CreditInput<T> in{{offsets, 3}, rewards, mask, nullptr, .1};
  CHECK(credit<T>().assign(CreditForm::minForm, in, {credited, returns, outcomes, weights}) == kOk);
  CHECK_NEAR(outcomes[0], -.199343919, bound);
  CHECK_NEAR(returns[1], -.199358938, bound);
  CHECK_NEAR(credited[2], 4.555180e-4, bound);
  CHECK(outcomes[1] == 0);
  CHECK_NEAR(credited[3], .4, bound);
  CHECK(credited[4] == 0 && !std::signbit(credited[4]));
  CHECK_NEAR(returns[3], .8, bound);
}

int main() {
  softMinForm<double>(1e-9);
  softMinForm<float>(1e-7);
  const int32_t offsets[] = {0, 2};
  const double rewards[] = {1, kNaN};
  double out[8];
  const CreditInput<double> in{{offsets, 1}, rewards, nullptr, nullptr, .1};
  CHECK(credit<double>().assign(CreditForm::sum, in, {out, out + 2, out + 4, nullptr}) == 1);
  return checkResult();
}
