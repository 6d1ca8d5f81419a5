// The kernel table of the family.
#include "padded.h"

namespace minform {
namespace MINFORM_ISA {
namespace peers {

template <class T>
void rowSums(const PaddedShape&, const T*, bool, T*);
template <class T>
void spread(const PaddedShape&, const T*, T*);
template <class T>
void subtractRows(const PaddedShape&, const T*, const T*, const T*, const uint8_t*, bool, T*);
template <class T>
void addAtLast(const PaddedShape&, const T*, T*);
template <class T>
void stepTokens(const PaddedShape&, const uint8_t*, T*);
template <class T>
void returns(const PaddedShape&, const PeerReturnRule&, const T*, T*);
template <class T>
void gae(const PaddedShape&, PeerMaskUse, const T*, const T*, double, double, T*, T*);
template <class T>
bool whiten(const PaddedShape&, const PeerWhitenRule&, const T*, T*);
template <class T>
void groupScores(const PeerGroupShape&, const PeerGroupRule&, const T*, T*);
template <class T>
void othersRatio(const PeerGroupShape&, const T*, const T*, T*);
template <class T>
void weightedMeans(const PeerGroupShape&, const T*, const T*, T*);
template <class T>
PeerPolicyStats policyLoss(const PaddedShape&, const PeerPolicyRule&, const PeerAggregateRule&, const T*, const T*,
                           const T*, T*);
template <class T>
PeerPolicyStats geometricMeanLoss(const PaddedShape&, const PeerPolicyRule&, const T*, const T*, const T*, T*);
template <class T>
double aggregate(const PaddedShape&, const PeerAggregateRule&, const T*);
template <class T>
void kl(const PaddedShape&, const PeerKlRule&, const T*, const T*, T*, T*);
template <class T>
PeerPolicyStats valueLoss(const PaddedShape&, const PeerValueRule&, const PeerAggregateRule&, double, const T*,
                          const T*, const T*, T*);

template <class T>
static void fill(PresetKernels<T>& kernels) {
  kernels.rowSums = rowSums<T>;
  kernels.spread = spread<T>;
  kernels.subtractRows = subtractRows<T>;
  kernels.addAtLast = addAtLast<T>;
  kernels.stepTokens = stepTokens<T>;
  kernels.returns = returns<T>;
  kernels.gae = gae<T>;
  kernels.whiten = whiten<T>;
  kernels.groupScores = groupScores<T>;
  kernels.othersRatio = othersRatio<T>;
  kernels.weightedMeans = weightedMeans<T>;
  kernels.policyLoss = policyLoss<T>;
  kernels.geometricMeanLoss = geometricMeanLoss<T>;
  kernels.aggregate = aggregate<T>;
  kernels.kl = kl<T>;
  kernels.valueLoss = valueLoss<T>;
}

}  // namespace peers

void presetsTable(PresetKernels<float>& kernels) { peers::fill(kernels); }
void presetsTable(PresetKernels<double>& kernels) { peers::fill(kernels); }

}  // namespace MINFORM_ISA
}  // namespace minform
