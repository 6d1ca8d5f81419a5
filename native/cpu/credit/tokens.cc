// From step values to token values, and reward-to-go over tokens.
#include "lanes.h"
#include "minform/credit.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

// out[begin .. end) = value where the token is trained and not flagged, else +0.
template <class T>
void fillSpan(T* out, int64_t begin, int64_t end, T value, const uint8_t* zeroAt, const uint8_t* mask) {
  if (zeroAt == nullptr && mask == nullptr) {
    for (int64_t i = begin; i < end; i++) out[i] = value;
    return;
  }
  for (int64_t i = begin; i < end; i++) {
    out[i] = trained(mask, i) && (zeroAt == nullptr || zeroAt[i] == 0) ? value : T(0);
  }
}

}  // namespace

template <class T>
void placeSteps(const Rows& tokens, const Rows& steps, const int32_t* stepEnds, const T* values, Place place,
                const uint8_t* zeroAt, const uint8_t* mask, T* out) {
  parallelRows(tokens, 1 << 16, [&](int64_t row) {
    const int64_t first = tokens.begin(row);
    int64_t at = first;
    for (int64_t step = steps.begin(row); step < steps.end(row); step++) {
      const int64_t last = first + stepEnds[step];
      if (place == Place::span) {
        fillSpan(out, at, last + 1, values[step], zeroAt, mask);
      } else {
        fillSpan(out, at, last, T(0), nullptr, nullptr);
        fillSpan(out, last, last + 1, values[step], zeroAt, mask);
      }
      at = last + 1;
    }
    fillSpan(out, at, tokens.end(row), T(0), nullptr, nullptr);
  });
}

template <class T>
int64_t returns(const Rows& tokens, const T* rewards, const uint8_t* mask, double gamma, T* out) {
  for (int64_t i = 0; i < tokens.total(); i++) {
    if (trained(mask, i) && !isFinite(rewards[i])) return i;
  }
  parallelRows(tokens, 1 << 15, [&](int64_t row) {
    double tail = 0;
    for (int64_t i = tokens.end(row) - 1; i >= tokens.begin(row); i--) {
      if (!trained(mask, i)) {
        out[i] = T(0);
        continue;
      }
      tail = rewards[i] + gamma * tail;
      out[i] = static_cast<T>(tail + 0.0);
    }
  });
  return kOk;
}

template void placeSteps(const Rows&, const Rows&, const int32_t*, const float*, Place, const uint8_t*, const uint8_t*,
                         float*);
template void placeSteps(const Rows&, const Rows&, const int32_t*, const double*, Place, const uint8_t*, const uint8_t*,
                         double*);
template int64_t returns(const Rows&, const float*, const uint8_t*, double, float*);
template int64_t returns(const Rows&, const double*, const uint8_t*, double, double*);

}  // namespace MINFORM_ISA
}  // namespace minform
