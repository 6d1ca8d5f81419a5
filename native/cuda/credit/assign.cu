// Per-step credit, a warp per row (docs/guides/credit.md has the formulas).
#include "launch.h"
#include "minform/cuda/credit.h"
#include "softmin.h"

namespace minform::cuda {
namespace {

// From the last step of a row to the first, 32 at a time with one step per lane. Within those, each lane walks all of
// them in the order of the CPU kernel; a row has few steps, and the bits agree.
template <class T>
struct Assign {
  static constexpr int kThreads = kRowWarps * kWarp;
  static constexpr int kResident = 1;
  CreditForm form;
  DeviceRows steps;
  Global<const T> rewards;
  Global<const uint8_t> mask;
  Global<const int32_t> stepEnds;
  double parameter;
  Global<T> credited, returns, outcomes, weights;
  Global<int64_t> status;

  __device__ bool weighted() const {
    return form == CreditForm::minForm || form == CreditForm::sum || form == CreditForm::mean;
  }

  // The weight of a step in the forms that are a sum of weight * reward.
  __device__ double weight(const SoftMin& soft, int64_t counted, double reward) const {
    if (form == CreditForm::minForm) return soft.weight(reward);
    return form == CreditForm::mean ? 1.0 / static_cast<double>(counted) : 1.0;
  }

  // The return of a step from that of the next counted one.
  __device__ double step(double term, double factor, double tail, bool any) const {
    if (!any) return term;
    if (form == CreditForm::strictMinForm) return smaller(term, tail);
    if (form == CreditForm::product) return term * tail;
    return term + factor * tail;
  }

  __device__ void operator()() const {
    const int64_t row = rowOfWarp();
    if (row >= steps.count) return;
    const int64_t begin = steps.begin(row), end = steps.end(row);
    reportNonFinite(rewards, mask, begin, end, status);
    SoftMin soft{};
    int64_t counted = 0;
    if (form == CreditForm::minForm) soft = softMin(rewards, mask, begin, end, parameter);
    if (form == CreditForm::mean) {
      for (int64_t i = begin + laneIndex(); i < end; i += kWarp) counted += trained(mask, i);
      counted = warpReduce(counted, Sum());
    }

    double tail = 0;
    bool any = false;
    int32_t nextEnd = 0;  // the last token of the next counted step
    for (int64_t top = end; top > begin; top -= kWarp) {
      const int64_t i = top - 1 - laneIndex();
      const bool inside = i >= begin, counts = inside && trained(mask, i);
      const uint32_t votes = __ballot_sync(kAllLanes, counts);
      const double reward = counts ? static_cast<double>(rewards[i]) : 0;
      const double ownWeight = counts && weighted() ? weight(soft, counted, reward) : 0;
      const double term = weighted() ? ownWeight * reward : reward;
      const double factor = form == CreditForm::gammaDecay ? decay(i, counts, votes, &nextEnd) : 1;

      double value = 0, before = 0;
      for (int lane = 0; lane < kWarp; lane++) {
        const double laneTerm = __shfl_sync(kAllLanes, term, lane);
        const double laneFactor = __shfl_sync(kAllLanes, factor, lane);
        if ((votes >> lane & 1) == 0) continue;
        if (lane == laneIndex()) before = tail;
        tail = step(laneTerm, laneFactor, tail, any);
        any = true;
        if (lane == laneIndex()) value = tail;
      }
      if (!inside) continue;
      // + 0.0 turns -0 into +0.
      credited[i] = static_cast<T>((weighted() ? term : value - before) + 0.0);
      returns[i] = static_cast<T>(value + 0.0);
      if (weights != nullptr) weights[i] = static_cast<T>(ownWeight);
    }
    if (laneIndex() == 0) outcomes[row] = static_cast<T>(tail + 0.0);
  }

  // gamma to the distance from step i to the next counted one, which an earlier lane holds or `nextEnd`.
  __device__ double decay(int64_t i, bool counts, uint32_t votes, int32_t* nextEnd) const {
    if (stepEnds == nullptr) return parameter;
    const int32_t own = counts ? static_cast<int32_t>(stepEnds[i]) : 0;
    const uint32_t later = votes & ((1u << laneIndex()) - 1);
    const int32_t shuffled =
        __shfl_sync(kAllLanes, own, later == 0 ? laneIndex() : 31 - __clz(static_cast<int>(later)));
    const int32_t next = later == 0 ? *nextEnd : shuffled;
    if (votes != 0) *nextEnd = __shfl_sync(kAllLanes, own, 31 - __clz(static_cast<int>(votes)));
    return counts ? pow(parameter, static_cast<double>(next - own)) : 1;
  }
};

}  // namespace

template <class T>
void creditAssign(CreditForm form, const CreditInput<T>& in, const CreditOutput<T>& out, int64_t* status,
                  Stream stream) {
  resetStatus(status, stream);
  launch(Assign<T>{form, DeviceRows(in.steps), in.rewards, in.mask, in.stepEnds, in.parameter, out.rewards, out.returns,
                   out.outcomes, out.weights, status},
         warpPerRow(in.steps.count), stream);
}

template void creditAssign(CreditForm, const CreditInput<float>&, const CreditOutput<float>&, int64_t*, Stream);
template void creditAssign(CreditForm, const CreditInput<double>&, const CreditOutput<double>&, int64_t*, Stream);

}  // namespace minform::cuda
