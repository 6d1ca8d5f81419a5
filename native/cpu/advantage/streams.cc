// Sums of reward streams: a value per response onto its tokens, verifiable rewards, and the KL penalty in the reward.
#include "family.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

int64_t lastCounted(const Rows& tokens, int64_t row, const uint8_t* mask) {
  int64_t last = tokens.end(row) - 1;
  while (last >= tokens.begin(row) && !trained(mask, last)) last--;
  return last;
}

// out = (base or 0) + added over [first, last].
template <class T>
void addOver(const T* base, double added, const uint8_t* mask, int64_t first, int64_t last, T* out) {
  for (int64_t i = first; i <= last; i++) {
    const double value = (base == nullptr ? 0 : static_cast<double>(base[i])) + added;
    out[i] = trained(mask, i) ? saturated(value, T(0)) : T(0);
  }
}

}  // namespace

template <class T>
int64_t addPerRow(const Rows& tokens, const T* base, const T* perRow, double scale, Spread spread, const uint8_t* mask,
                  T* out) {
  Scratch<int64_t> status(tokens.count);
  parallelRows(tokens, 1 << 15, [&](int64_t row) {
    const int64_t begin = tokens.begin(row), end = tokens.end(row);
    status[row] = base == nullptr ? kOk : firstNonFinite(base, mask, begin, end);
    if (status[row] != kOk) return;
    const double added = finite(scale * perRow[row]);
    const int64_t last = lastCounted(tokens, row, mask);
    const int64_t first = spread == Spread::every || last < begin ? begin : last;
    addOver(base, 0, mask, begin, first - 1, out);
    addOver(base, added, mask, first, last, out);
    addOver(base, 0, mask, larger(first, last + 1), end - 1, out);
  });
  return firstBad(status.get(), tokens.count);
}

template <class T>
int64_t codeVerifiable(int64_t rows, const T* verifiable, double shift, T* out) {
  int64_t bad = kOk;
  for (int64_t row = 0; row < rows; row++) {
    const T value = verifiable[row];
    if (bad == kOk && !isNaN(value) && value != 0 && value != 1) bad = row;
    out[row] = isNaN(value) ? T(0) : static_cast<T>(value + shift + 0.0);
  }
  return bad;
}

template <class T>
int64_t scorableTokens(const Rows& tokens, const T* rewards, const uint8_t* mask, uint8_t* out) {
  for (int64_t row = 0; row < tokens.count; row++) {
    const bool scorable = !isNaN(rewards[row]);
    for (int64_t i = tokens.begin(row); i < tokens.end(row); i++) out[i] = scorable && trained(mask, i) ? 1 : 0;
  }
  return kOk;
}

template <class T>
int64_t klReward(const Rows& tokens, const T* rewards, const T* kl, double coefficient, const uint8_t* mask, T* out) {
  Scratch<int64_t> status(tokens.count);
  parallelRows(tokens, 1 << 15, [&](int64_t row) {
    const int64_t begin = tokens.begin(row), end = tokens.end(row);
    const int64_t inRewards = firstNonFinite(rewards, mask, begin, end), inKl = firstNonFinite(kl, mask, begin, end);
    status[row] = inRewards == kOk || (inKl != kOk && inKl < inRewards) ? inKl : inRewards;
    if (status[row] != kOk) return;
    for (int64_t i = begin; i < end; i++) {
      out[i] = trained(mask, i) ? saturated(rewards[i] - finite(coefficient * kl[i]), T(0)) : T(0);
    }
  });
  return firstBad(status.get(), tokens.count);
}

template int64_t addPerRow(const Rows&, const float*, const float*, double, Spread, const uint8_t*, float*);
template int64_t addPerRow(const Rows&, const double*, const double*, double, Spread, const uint8_t*, double*);
template int64_t codeVerifiable(int64_t, const float*, double, float*);
template int64_t codeVerifiable(int64_t, const double*, double, double*);
template int64_t scorableTokens(const Rows&, const float*, const uint8_t*, uint8_t*);
template int64_t scorableTokens(const Rows&, const double*, const uint8_t*, uint8_t*);
template int64_t klReward(const Rows&, const float*, const float*, double, const uint8_t*, float*);
template int64_t klReward(const Rows&, const double*, const double*, double, const uint8_t*, double*);

}  // namespace MINFORM_ISA
}  // namespace minform
