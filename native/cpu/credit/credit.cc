// Per-step credit: soft and strict min-form, discounting, sum, mean, product (docs/guides/credit.md has the formulas).
#include "minform/credit.h"

#include "lanes.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

template <class T>
int64_t firstNonFinite(const CreditInput<T>& in) {
  for (int64_t i = 0; i < in.steps.total(); i++) {
    if (trained(in.mask, i) && !isFinite(in.rewards[i])) return i;
  }
  return kOk;
}

// softmax(-r / T) over the counted steps of one row, from (r - min) / T.
template <class T>
class SoftMin {
 public:
  SoftMin(const CreditInput<T>& in, int64_t begin, int64_t end) : begin_(begin), weights_(end - begin) {
    bool any = false;
    for (int64_t i = begin; i < end; i++) {
      if (!trained(in.mask, i)) continue;
      const double r = in.rewards[i];
      lowest = any ? smaller(lowest, r) : r;
      any = true;
    }
    double normaliser = 0;
    for (int64_t i = begin; i < end; i++) {
      const double e = trained(in.mask, i) ? ::exp((lowest - in.rewards[i]) / in.parameter) : 0;
      weights_[i - begin] = e;
      normaliser += e;
    }
    for (int64_t i = begin; i < end; i++) weights_[i - begin] /= normaliser;
  }

  double lowest = 0;
  double weight(int64_t i) { return weights_[i - begin_]; }

 private:
  int64_t begin_;
  Scratch<double> weights_;
};

// Forms that are a weight per step: the return is the suffix sum of weight * reward.
template <class T, class Weight>
double assignWeighted(const CreditInput<T>& in, const CreditOutput<T>& out, int64_t begin, int64_t end, Weight weight) {
  double tail = 0;
  for (int64_t i = end - 1; i >= begin; i--) {
    double w = 0, credited = 0;
    if (trained(in.mask, i)) {
      w = weight(i);
      credited = w * in.rewards[i];
      tail += credited;
    }
    out.rewards[i] = static_cast<T>(credited + 0.0);  // + 0.0 turns -0 into +0
    out.returns[i] = trained(in.mask, i) ? static_cast<T>(tail + 0.0) : T(0);
    if (out.weights != nullptr) out.weights[i] = static_cast<T>(w);
  }
  return tail;
}

// Forms that are a recursion on the return: the credited reward is the difference of neighbouring returns.
template <class T, class Step>
double assignRecursive(const CreditInput<T>& in, const CreditOutput<T>& out, int64_t begin, int64_t end, Step step) {
  double tail = 0;
  int64_t next = -1;  // the counted step after this one
  for (int64_t i = end - 1; i >= begin; i--) {
    double value = 0, credited = 0;
    if (trained(in.mask, i)) {
      value = step(i, next, tail);
      credited = value - tail;
      tail = value;
      next = i;
    }
    out.rewards[i] = static_cast<T>(credited + 0.0);
    out.returns[i] = static_cast<T>(value + 0.0);
  }
  return tail;
}

template <class T>
double assignRow(CreditForm form, const CreditInput<T>& in, const CreditOutput<T>& out, int64_t begin, int64_t end) {
  const T* r = in.rewards;
  switch (form) {
    case CreditForm::minForm: {
      SoftMin<T> softMin(in, begin, end);
      return assignWeighted(in, out, begin, end, [&](int64_t i) { return softMin.weight(i); });
    }
    case CreditForm::mean: {
      int64_t counted = 0;
      for (int64_t i = begin; i < end; i++) counted += trained(in.mask, i);
      return assignWeighted(in, out, begin, end, [&](int64_t) { return 1.0 / static_cast<double>(counted); });
    }
    case CreditForm::sum:
      return assignWeighted(in, out, begin, end, [](int64_t) { return 1.0; });
    case CreditForm::strictMinForm:
      return assignRecursive(in, out, begin, end, [&](int64_t i, int64_t next, double tail) {
        return next < 0 ? static_cast<double>(r[i]) : smaller(static_cast<double>(r[i]), tail);
      });
    case CreditForm::product:
      return assignRecursive(in, out, begin, end, [&](int64_t i, int64_t next, double tail) {
        return next < 0 ? static_cast<double>(r[i]) : r[i] * tail;
      });
    case CreditForm::gammaDecay:
      return assignRecursive(in, out, begin, end, [&](int64_t i, int64_t next, double tail) {
        if (next < 0) return static_cast<double>(r[i]);
        const double distance = in.stepEnds == nullptr ? 1.0 : in.stepEnds[next] - in.stepEnds[i];
        return r[i] + ::pow(in.parameter, distance) * tail;
      });
  }
  return 0;
}

template <class T>
int64_t assign(CreditForm form, const CreditInput<T>& in, const CreditOutput<T>& out) {
  const int64_t bad = firstNonFinite(in);
  if (bad != kOk) return bad;
  parallelRows(in.steps, 4096, [&](int64_t row) {
    const double outcome = assignRow(form, in, out, in.steps.begin(row), in.steps.end(row));
    out.outcomes[row] = static_cast<T>(outcome + 0.0);
  });
  return kOk;
}

// With v_k = w_k r_k and S = sum_k v_k:  d(sum_k g_k v_k)/dr_j = w_j (g_j (1 - r_j / T) + (sum_k g_k v_k) / T).
template <class T>
void backwardRow(const CreditInput<T>& in, const CreditGradients<T>& grads, int64_t row, T* gradStepRewards) {
  const int64_t begin = in.steps.begin(row), end = in.steps.end(row);
  SoftMin<T> softMin(in, begin, end);
  const double temperature = in.parameter;
  Scratch<double> upstream(end - begin);
  double reaching = grads.outcomes == nullptr ? 0 : static_cast<double>(grads.outcomes[row]);
  double weighted = 0;
  for (int64_t i = begin; i < end; i++) {
    if (!trained(in.mask, i)) continue;
    if (grads.returns != nullptr) reaching += grads.returns[i];
    const double g = reaching + (grads.rewards == nullptr ? 0 : static_cast<double>(grads.rewards[i]));
    upstream[i - begin] = g;
    // Centred on the minimum: r / T may overflow where (r - min) / T does not.
    weighted += g * softMin.weight(i) * (in.rewards[i] - softMin.lowest);
  }
  double plain = 0;
  for (int64_t i = begin; i < end; i++) {
    if (trained(in.mask, i)) plain += upstream[i - begin] * softMin.weight(i);
  }
  for (int64_t i = begin; i < end; i++) {
    double gradient = 0;
    if (trained(in.mask, i)) {
      const double w = softMin.weight(i);
      const double g = upstream[i - begin];
      const double above = in.rewards[i] - softMin.lowest;
      // g (1 - r/T) + (sum g v)/T, with r = lowest + above on both sides.
      const double slope = g + (weighted - g * above) / temperature + softMin.lowest * (plain - g) / temperature;
      gradient = w == 0 ? 0 : w * slope;
    }
    gradStepRewards[i] = static_cast<T>(gradient + 0.0);
  }
}

template <class T>
int64_t minFormBackward(const CreditInput<T>& in, const CreditGradients<T>& grads, T* gradStepRewards) {
  const int64_t bad = firstNonFinite(in);
  if (bad != kOk) return bad;
  parallelRows(in.steps, 4096, [&](int64_t row) { backwardRow(in, grads, row, gradStepRewards); });
  return kOk;
}

}  // namespace

template <class T>
void placeSteps(const Rows&, const Rows&, const int32_t*, const T*, Place, const uint8_t*, const uint8_t*, T*);
template <class T>
int64_t returns(const Rows&, const T*, const uint8_t*, double, T*);

template <class T>
static void fill(CreditKernels<T>& kernels) {
  kernels.assign = assign<T>;
  kernels.minFormBackward = minFormBackward<T>;
  kernels.placeSteps = placeSteps<T>;
  kernels.returns = returns<T>;
}
void creditTable(CreditKernels<float>& kernels) { fill(kernels); }
void creditTable(CreditKernels<double>& kernels) { fill(kernels); }

}  // namespace MINFORM_ISA
}  // namespace minform
