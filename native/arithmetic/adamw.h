// Decoupled weight decay (arXiv 1711.05101) on Adam (arXiv 1412.6980): the scalars of a step, and the update of one
// parameter.
#pragma once

#include <cmath>

#include "arithmetic/space.h"
#include "minform/optim.h"

namespace minform {
namespace MINFORM_SPACE {

MINFORM_FUNCTION float rootOf(float x) { return ::sqrtf(x); }
MINFORM_FUNCTION double rootOf(double x) { return ::sqrt(x); }

// Computed in float64. The scale of gradients is a kernel's own.
template <class T>
struct AdamWStep {
  T keep, decay1, decay2, gain1, gain2, stepSize, rootCorrection, epsilon;

  explicit AdamWStep(const AdamWOptions& o)
      : keep(static_cast<T>(1.0 - o.learningRate * o.weightDecay)),
        decay1(static_cast<T>(o.beta1)),
        decay2(static_cast<T>(o.beta2)),
        gain1(static_cast<T>(1.0 - o.beta1)),
        gain2(static_cast<T>(1.0 - o.beta2)),
        stepSize(static_cast<T>(o.learningRate / (1.0 - ::pow(o.beta1, static_cast<double>(o.step))))),
        rootCorrection(static_cast<T>(1.0 / ::sqrt(1.0 - ::pow(o.beta2, static_cast<double>(o.step))))),
        epsilon(static_cast<T>(o.epsilon)) {}

  MINFORM_FUNCTION T firstMoment(T old, T g) const { return decay1 * old + gain1 * g; }
  MINFORM_FUNCTION T secondMoment(T old, T g) const { return decay2 * old + gain2 * (g * g); }
  MINFORM_FUNCTION T parameter(T old, T m, T v) const {
    return keep * old - stepSize * (m / (rootOf(v) * rootCorrection + epsilon));
  }
};

}  // namespace MINFORM_SPACE
}  // namespace minform
