// Moving values between rows and tokens, reward-to-go, GAE and whitening, each with its peers' treatment of the mask.
#include "padded.h"

namespace minform {
namespace MINFORM_ISA {
namespace peers {

template <class T>
void rowSums(const PaddedShape& shape, const T* values, bool masked, T* out) {
  forRows(shape, [&](int64_t row) {
    double sum = 0;
    for (int64_t i = row * shape.width; i < (row + 1) * shape.width; i++) {
      sum += masked ? static_cast<double>(values[i]) * shape.mask[i] : static_cast<double>(values[i]);
    }
    out[row] = static_cast<T>(sum);
  });
}

template <class T>
void spread(const PaddedShape& shape, const T* rowValues, T* out) {
  forRows(shape, [&](int64_t row) {
    for (int64_t i = row * shape.width; i < (row + 1) * shape.width; i++)
      out[i] = rowValues[row] * static_cast<T>(shape.mask[i]);
  });
}

template <class T>
void subtractRows(const PaddedShape& shape, const T* values, const T* rowValues, const T* weights, const uint8_t* only,
                  bool keepElsewhere, T* out) {
  forRows(shape, [&](int64_t row) {
    const double offset = rowValues[row];
    for (int64_t i = row * shape.width; i < (row + 1) * shape.width; i++) {
      if (only != nullptr && only[i] == 0) {
        out[i] = keepElsewhere ? values[i] : T(0);
      } else {
        out[i] = static_cast<T>(values[i] - offset * (weights == nullptr ? 1.0 : static_cast<double>(weights[i])));
      }
    }
  });
}

template <class T>
void addAtLast(const PaddedShape& shape, const T* rowValues, T* values) {
  forRows(shape, [&](int64_t row) {
    int64_t last = (row + 1) * shape.width - 1;
    while (last > row * shape.width && shape.mask[last] == 0) last--;
    if (shape.mask[last] == 0) last = (row + 1) * shape.width - 1;
    values[last] += rowValues[row];
  });
}

template <class T>
void stepTokens(const PaddedShape& shape, const uint8_t* stepEnds, T* out) {
  forRows(shape, [&](int64_t row) {
    int64_t tokens = 0;
    for (int64_t i = row * shape.width; i < (row + 1) * shape.width; i++) {
      if (stepEnds[i] != 0) {
        out[i] = static_cast<T>(tokens);
        tokens = 0;
      } else {
        out[i] = T(0);
        tokens += shape.mask[i];
      }
    }
  });
}

template <class T>
void returns(const PaddedShape& shape, const PeerReturnRule& rule, const T* rewards, T* out) {
  forRows(shape, [&](int64_t row) {
    double carried = 0;
    const int64_t last = (row + 1) * shape.width - 1;
    for (int64_t i = last; i >= row * shape.width; i--) {
      const double mask = shape.mask[i];
      const double reward = rule.maskRewards != 0 ? rewards[i] * mask : static_cast<double>(rewards[i]);
      if (rule.smallest != 0) {
        carried = i == last ? reward : smallestOf(reward, carried);
      } else {
        carried = reward + rule.gamma * carried;
      }
      out[i] = static_cast<T>(rule.maskResult != 0 ? carried * mask : carried);
      if (rule.maskCarry != 0) carried *= mask;
    }
  });
}

template <class T>
void gae(const PaddedShape& shape, PeerMaskUse use, const T* rewards, const T* values, double gamma, double lambda,
         T* advantages, T* returns) {
  forRows(shape, [&](int64_t row) {
    double nextValue = 0, carried = 0;
    for (int64_t i = (row + 1) * shape.width - 1; i >= row * shape.width; i--) {
      const double mask = shape.mask[i];
      double reward = rewards[i], value = values[i];
      if (use == PeerMaskUse::multiply) {
        reward *= mask;
        value *= mask;
      }
      const double advantage = (reward + gamma * nextValue - value) + gamma * lambda * carried;
      if (use == PeerMaskUse::carry) {
        nextValue = value * mask + (1 - mask) * nextValue;
        carried = advantage * mask + (1 - mask) * carried;
      } else {
        nextValue = value;
        carried = advantage;
      }
      advantages[i] = static_cast<T>(carried);
      returns[i] = static_cast<T>(carried + value);
    }
  });
}

template <class T>
bool whiten(const PaddedShape& shape, const PeerWhitenRule& rule, const T* values, T* out) {
  const bool select = rule.select != 0;
  const double count = tokenCount(shape);
  if (rule.unbiased != 0 && count < 2) return false;
  const double divisor = count + rule.countEpsilon;
  const double mean = maskedSum(shape, select, [&](int64_t i) { return static_cast<double>(values[i]); }) / divisor;
  double variance =
      maskedSum(shape, select, [&](int64_t i) { return (values[i] - mean) * (values[i] - mean); }) / divisor;
  if (rule.unbiased != 0) variance *= count / (count - 1);
  const double scale =
      1 / ::sqrt(rule.clampFloor != 0 ? (variance < rule.floor ? rule.floor : variance) : variance + rule.floor);
  forRows(shape, [&](int64_t row) {
    for (int64_t i = row * shape.width; i < (row + 1) * shape.width; i++) {
      const double whitened = (values[i] - mean) * scale;
      out[i] = static_cast<T>(rule.maskResult != 0 ? whitened * shape.mask[i] : whitened);
    }
  });
  return true;
}

#define MINFORM_INSTANTIATE(T)                                                                            \
  template void rowSums(const PaddedShape&, const T*, bool, T*);                                          \
  template void spread(const PaddedShape&, const T*, T*);                                                 \
  template void subtractRows(const PaddedShape&, const T*, const T*, const T*, const uint8_t*, bool, T*); \
  template void addAtLast(const PaddedShape&, const T*, T*);                                              \
  template void stepTokens(const PaddedShape&, const uint8_t*, T*);                                       \
  template void returns(const PaddedShape&, const PeerReturnRule&, const T*, T*);                         \
  template void gae(const PaddedShape&, PeerMaskUse, const T*, const T*, double, double, T*, T*);         \
  template bool whiten(const PaddedShape&, const PeerWhitenRule&, const T*, T*);
MINFORM_INSTANTIATE(float)
MINFORM_INSTANTIATE(double)

}  // namespace peers
}  // namespace MINFORM_ISA
}  // namespace minform
