// The table of the family (docs/guides/advantage.md has the formulas).
#include "family.h"

namespace minform {
namespace MINFORM_ISA {

template <class T>
static void fill(AdvantageKernels<T>& kernels) {
  kernels.outcomes = outcomes<T>;
  kernels.tokenRloo = tokenRloo<T>;
  kernels.stepRloo = stepRloo<T>;
  kernels.rewardToGo = rewardToGo<T>;
  kernels.gae = gae<T>;
  kernels.optimalBaseline = optimalBaseline<T>;
  kernels.whiten = whiten<T>;
  kernels.addPerRow = addPerRow<T>;
  kernels.codeVerifiable = codeVerifiable<T>;
  kernels.scorableTokens = scorableTokens<T>;
  kernels.klReward = klReward<T>;
}
void advantageTable(AdvantageKernels<float>& kernels) { fill(kernels); }
void advantageTable(AdvantageKernels<double>& kernels) { fill(kernels); }

}  // namespace MINFORM_ISA
}  // namespace minform
