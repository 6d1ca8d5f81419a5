// Generalised advantage estimation: delta_t = R_t + gamma V_next - V_t, A_t = delta_t + gamma lambda A_next, over the
// counted tokens; after the last one stands the bootstrap value.
#include "family.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

template <class T>
void estimateRow(const GaeInput<T>& in, int64_t row, T* advantages, T* returns) {
  double nextValue = in.bootstrap == nullptr ? 0 : static_cast<double>(in.bootstrap[row]);
  double advantage = 0, valueAdvantage = 0;
  const double carry = in.gamma * in.lambda, valueCarry = in.gamma * in.valueLambda;
  for (int64_t i = in.tokens.end(row) - 1; i >= in.tokens.begin(row); i--) {
    if (!trained(in.mask, i)) {
      advantages[i] = returns[i] = T(0);
      continue;
    }
    const double value = in.values[i];
    const double delta = finite(finite(in.rewards[i] + in.gamma * nextValue) - value);
    advantage = delta + carry * advantage;
    valueAdvantage = delta + valueCarry * valueAdvantage;
    advantages[i] = saturated(advantage, T(0));
    returns[i] = saturated(finite(valueAdvantage) + value, T(0));
    nextValue = value;
  }
}

}  // namespace

template <class T>
int64_t gae(const GaeInput<T>& in, T* advantages, T* returns) {
  Scratch<int64_t> status(in.tokens.count);
  parallelRows(in.tokens, 1 << 15, [&](int64_t row) {
    const int64_t begin = in.tokens.begin(row), end = in.tokens.end(row);
    const int64_t rewards = firstNonFinite(in.rewards, in.mask, begin, end);
    const int64_t values = firstNonFinite(in.values, in.mask, begin, end);
    status[row] = rewards == kOk || (values != kOk && values < rewards) ? values : rewards;
    if (status[row] == kOk) estimateRow(in, row, advantages, returns);
  });
  return firstBad(status.get(), in.tokens.count);
}

template int64_t gae(const GaeInput<float>&, float*, float*);
template int64_t gae(const GaeInput<double>&, double*, double*);

}  // namespace MINFORM_ISA
}  // namespace minform
