// Vector-Jacobian product of minForm, a warp per row. With v_k = w_k r_k and S = sum_k v_k:
//   d(sum_k g_k v_k)/dr_j = w_j (g_j (1 - r_j / T) + (sum_k g_k v_k) / T).
#include "launch.h"
#include "minform/cuda/credit.h"
#include "softmin.h"

namespace minform::cuda {
namespace {

template <class T>
struct MinFormBackward {
  static constexpr int kThreads = kRowWarps * kWarp;
  DeviceRows steps;
  Global<const T> rewards;
  Global<const uint8_t> mask;
  double temperature;
  Global<const T> gradCredited, gradReturns, gradOutcomes;
  Global<T> gradStepRewards;
  Global<int64_t> status;

  // What reaches step i through its credited reward and through the returns of it and of all earlier steps; `reaching`
  // carries the latter on. All lanes call this for 32 steps in a row.
  __device__ double upstream(int64_t i, bool counts, double* reaching) const {
    const double own = counts && gradReturns != nullptr ? static_cast<double>(gradReturns[i]) : 0;
    double mine = 0;
    for (int lane = 0; lane < kWarp; lane++) {
      *reaching += __shfl_sync(kAllLanes, own, lane);
      if (lane == laneIndex()) mine = *reaching;
    }
    return mine + (counts && gradCredited != nullptr ? static_cast<double>(gradCredited[i]) : 0);
  }

  __device__ void operator()() const {
    const int64_t row = rowOfWarp();
    if (row >= steps.count) return;
    const int64_t begin = steps.begin(row), end = steps.end(row);
    reportNonFinite(rewards, mask, begin, end, status);
    const SoftMin soft = softMin(rewards, mask, begin, end, temperature);
    const double atStart = gradOutcomes == nullptr ? 0 : static_cast<double>(gradOutcomes[row]);

    // Centred on the minimum: r / T may overflow where (r - min) / T does not.
    double plain = 0, weighted = 0, reaching = atStart;
    for (int64_t first = begin; first < end; first += kWarp) {
      const int64_t i = first + laneIndex();
      const bool counts = i < end && trained(mask, i);
      const double g = upstream(i, counts, &reaching);
      if (!counts) continue;
      const double reward = rewards[i], share = g * soft.weight(reward);
      plain += share;
      weighted += share * (reward - soft.lowest);
    }
    plain = warpReduce(plain, Sum());
    weighted = warpReduce(weighted, Sum());

    reaching = atStart;
    for (int64_t first = begin; first < end; first += kWarp) {
      const int64_t i = first + laneIndex();
      const bool counts = i < end && trained(mask, i);
      const double g = upstream(i, counts, &reaching);
      if (i >= end) continue;
      double gradient = 0;
      if (counts) {
        const double reward = rewards[i], w = soft.weight(reward), above = reward - soft.lowest;
        // g (1 - r/T) + (sum g v)/T, with r = lowest + above on both sides.
        const double slope = g + (weighted - g * above) / temperature + soft.lowest * (plain - g) / temperature;
        gradient = w == 0 ? 0 : w * slope;
      }
      gradStepRewards[i] = static_cast<T>(gradient + 0.0);
    }
  }
};

}  // namespace

template <class T>
void creditMinFormBackward(const CreditInput<T>& in, const CreditGradients<T>& grads, T* gradStepRewards,
                           int64_t* status, Stream stream) {
  resetStatus(status, stream);
  launch(MinFormBackward<T>{DeviceRows(in.steps), in.rewards, in.mask, in.parameter, grads.rewards, grads.returns,
                            grads.outcomes, gradStepRewards, status},
         warpPerRow(in.steps.count), stream);
}

template void creditMinFormBackward(const CreditInput<float>&, const CreditGradients<float>&, float*, int64_t*, Stream);
template void creditMinFormBackward(const CreditInput<double>&, const CreditGradients<double>&, double*, int64_t*,
                                    Stream);

}  // namespace minform::cuda
