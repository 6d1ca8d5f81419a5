#include "sample.h"

#include <algorithm>

namespace minform {

namespace {

template <class T>
int32_t mostLikely(const T* logits, int64_t count) {
  int64_t best = 0;
  for (int64_t i = 0; i < count; i++) {
    if (!(logits[i] == logits[i])) return -1;
    if (logits[i] > logits[best]) best = i;
  }
  return static_cast<int32_t>(best);
}

// The first i at which the running sum of weight(i) passes `threshold`; rounding can leave that to the last one that
// has any weight.
template <class Weight>
int64_t passes(int64_t count, double threshold, const Weight& weight) {
  double sum = 0;
  int64_t last = 0;
  for (int64_t i = 0; i < count; i++) {
    const double w = weight(i);
    if (w > 0) last = i;
    sum += w;
    if (sum > threshold) return i;
  }
  return last;
}

template <class Weight>
double total(int64_t count, const Weight& weight) {
  double sum = 0;
  for (int64_t i = 0; i < count; i++) sum += weight(i);
  return sum;
}

// The tokens that a rule leaves, most likely first.
template <class T>
std::vector<int32_t> candidates(const T* weights, int64_t count, const SamplingRule& rule) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < count; i++) {
    if (weights[i] > 0 && weights[i] >= rule.minP) ids.push_back(static_cast<int32_t>(i));
  }
  const auto before = [weights](int32_t a, int32_t b) {
    return weights[a] > weights[b] || (weights[a] == weights[b] && a < b);
  };
  if (rule.topK > 0 && rule.topK < static_cast<int64_t>(ids.size())) {
    std::nth_element(ids.begin(), ids.begin() + rule.topK, ids.end(), before);
    ids.resize(static_cast<size_t>(rule.topK));
  }
  std::sort(ids.begin(), ids.end(), before);
  if (rule.topP < 1) {
    const auto weight = [&](int64_t i) { return static_cast<double>(weights[ids[static_cast<size_t>(i)]]); };
    const auto size = static_cast<int64_t>(ids.size());
    const double wanted = rule.topP * total(size, weight);
    double sum = 0;
    int64_t kept = 0;
    while (kept < size && (kept == 0 || sum < wanted)) sum += weight(kept++);
    ids.resize(static_cast<size_t>(kept));
  }
  return ids;
}

}  // namespace

template <class T>
int32_t sampleToken(T* logits, int64_t count, const SamplingRule& rule, double uniform) {
  if (rule.temperature == 0) return mostLikely(logits, count);
  modelKernels<T>().softmaxWeights(logits, count, rule.temperature, logits);
  const auto weight = [logits](int64_t i) { return static_cast<double>(logits[i]); };
  const double sum = total(count, weight);
  if (!(sum > 0)) return -1;
  if (rule.topK == 0 && rule.topP >= 1 && rule.minP == 0)
    return static_cast<int32_t>(passes(count, uniform * sum, weight));
  const std::vector<int32_t> ids = candidates(logits, count, rule);
  const auto kept = [&](int64_t i) { return weight(ids[static_cast<size_t>(i)]); };
  const auto size = static_cast<int64_t>(ids.size());
  return ids[static_cast<size_t>(passes(size, uniform * total(size, kept), kept))];
}

template int32_t sampleToken(float*, int64_t, const SamplingRule&, double);
template int32_t sampleToken(double*, int64_t, const SamplingRule&, double);

}  // namespace minform
