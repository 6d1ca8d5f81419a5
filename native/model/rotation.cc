#include <cmath>

#include "state.h"

namespace minform {

// The angle is rounded to float32, as the reference implementations compute it.
template <class T>
Rotation<T> RotationTable<T>::upTo(const ModelShape& shape, int64_t positions) {
  const size_t half = shape.frequencies.size();
  const size_t known = cos_.size() / half, wanted = static_cast<size_t>(positions);
  if (wanted > known) {
    const size_t grown = wanted > 2 * known ? wanted : 2 * known;
    cos_.resize(grown * half);
    sin_.resize(grown * half);
    for (size_t p = known; p < grown; p++) {
      for (size_t i = 0; i < half; i++) {
        const double angle = static_cast<float>(static_cast<double>(p) * shape.frequencies[i]);
        cos_[p * half + i] = static_cast<T>(static_cast<T>(std::cos(angle)) * shape.magnitude);
        sin_[p * half + i] = static_cast<T>(static_cast<T>(std::sin(angle)) * shape.magnitude);
      }
    }
  }
  return {cos_.data(), sin_.data()};
}

template class RotationTable<float>;
template class RotationTable<double>;

}  // namespace minform
