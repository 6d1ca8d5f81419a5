// The peers' quirks through the kernel table of the ISA level in use.
#include "minform/presets.h"

#include <cmath>

#include "check.h"

using namespace minform;

// Eight equal rewards: the float32 sum is not eight times the reward, and a tiny epsilon blows the residue up.
template <class T>
static double zeroVarianceAdvantage() {
  const int32_t group[8] = {};
  T scores[8], out[8];
  for (T& score : scores) score = T(.2);
  const PeerGroupRule rule{PeerGroupForm::scale, PeerSingletonForm::same, 0, 1e-9, 1};
  presets<T>().groupScores({group, 8, 1}, rule, scores, out);
  return out[7];
}

static void suffixMinimumOverTokens() {
  const uint8_t mask[] = {1, 1, 1, 1, 1, 1, 0, 0};
  const double rewards[] = {0, 0, -.5, 0, 0, .8, 0, 0};
  double out[8];
  presets<double>().returns({mask, 1, 8}, {1, 1, 0, 0, 1}, rewards, out);
  const double expected[] = {-.5, -.5, -.5, 0, 0, 0, 0, 0};
  for (int i = 0; i < 8; i++) CHECK(out[i] == expected[i]);
}

static void othersOfAGroupOfOne() {
  const int32_t group[] = {0, 1, 1};
  const double a[] = {5, 1, 3};
  double out[3];
  presets<double>().othersRatio({group, 3, 2}, a, nullptr, out);
  CHECK(std::isnan(out[0]));
  CHECK(out[1] == 3 && out[2] == 1);
}

int main() {
  CHECK_NEAR(zeroVarianceAdvantage<float>(), -.88, 5e-4);
  CHECK_NEAR(zeroVarianceAdvantage<double>(), 0, 1e-6);
  suffixMinimumOverTokens();
  othersOfAGroupOfOne();
  return checkResult();
}
