// Reward-to-go over the counted tokens, less a baseline per response.
#include "family.h"

namespace minform {
namespace MINFORM_ISA {

template <class T>
int64_t rewardToGo(const Rows& tokens, const T* rewards, const uint8_t* mask, double gamma, const T* baselines,
                   T* advantages, T* returns) {
  Scratch<int64_t> status(tokens.count);
  parallelRows(tokens, 1 << 15, [&](int64_t row) {
    const int64_t begin = tokens.begin(row), end = tokens.end(row);
    status[row] = firstNonFinite(rewards, mask, begin, end);
    if (status[row] != kOk) return;
    const double baseline = baselines == nullptr ? 0 : static_cast<double>(baselines[row]);
    double tail = 0;
    for (int64_t i = end - 1; i >= begin; i--) {
      if (!trained(mask, i)) {
        advantages[i] = returns[i] = T(0);
        continue;
      }
      tail = finite(rewards[i] + gamma * tail);
      advantages[i] = saturated(tail - baseline, T(0));
      returns[i] = saturated(tail, T(0));
    }
  });
  return firstBad(status.get(), tokens.count);
}

template int64_t rewardToGo(const Rows&, const float*, const uint8_t*, double, const float*, float*, float*);
template int64_t rewardToGo(const Rows&, const double*, const uint8_t*, double, const double*, double*, double*);

}  // namespace MINFORM_ISA
}  // namespace minform
