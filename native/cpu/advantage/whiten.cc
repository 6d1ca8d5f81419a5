// Whitening: one read for the moments (two passes over blocks that stay in cache, merged in order), one for the output.
#include "arithmetic/moments.h"
#include "family.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

constexpr int64_t kBlock = 4096;

struct Part {
  Moments moments;
  int64_t bad;
};

template <class T>
Part blockMoments(const T* values, const uint8_t* mask, int64_t begin, int64_t end, const Units& units) {
  Moments m{0, 0, 0, 0};
  const int64_t bad = firstNonFinite(values, mask, begin, end);
  int64_t at = begin;
  while (at < end && !trained(mask, at)) at++;
  if (at == end || bad != kOk) return {m, bad};
  m.first = values[at];
  m.count = static_cast<double>(countTokens(mask, begin, end - 1));
  const auto sumOver = [&](const auto& term) {
    double lanes[kLanes] = {};
    int64_t i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      for (int lane = 0; lane < kLanes; lane++) {
        const double value = term(units.difference(values[i + lane], m.first));
        lanes[lane] += trained(mask, i + lane) ? value : 0;
      }
    }
    for (int lane = 0; i < end; i++, lane++)
      lanes[lane] += trained(mask, i) ? term(units.difference(values[i], m.first)) : 0;
    return foldLanes(lanes);
  };
  m.mean = sumOver([](double x) { return x; }) / m.count;
  m.squares = sumOver([&](double x) { return (x - m.mean) * (x - m.mean); });
  return {m, kOk};
}

template <class T>
Part allMoments(int64_t count, const T* values, const uint8_t* mask, const Units& units) {
  const int64_t blocks = (count + kBlock - 1) / kBlock;
  Scratch<Part> parts(blocks);
  parallelBlocks(blocks, 8, [&](int64_t block) {
    parts[block] = blockMoments(values, mask, block * kBlock, smaller((block + 1) * kBlock, count), units);
  });
  Moments all{0, 0, 0, 0};
  for (int64_t block = 0; block < blocks; block++) {
    if (parts[block].bad != kOk) return parts[block];
    all = merged(all, parts[block].moments, units);
  }
  return {all, kOk};
}

}  // namespace

template <class T>
int64_t whiten(const WhitenRule& rule, int64_t count, const T* values, const uint8_t* mask, T* out) {
  Part all = allMoments(count, values, mask, Units{1, 1});
  if (all.bad != kOk) return all.bad;
  const Units units = unitsFor(all.moments, rule);
  if (units.scale() != 1) all = allMoments(count, values, mask, units);
  const Moments& m = all.moments;
  const Whitener whitener = whitenerOf(m, units, rule);
  parallelBlocks((count + kBlock - 1) / kBlock, 8, [&](int64_t block) {
    const int64_t end = smaller((block + 1) * kBlock, count);
    for (int64_t i = block * kBlock; i < end; i++) {
      const double distance = units.difference(values[i], m.first) - m.mean;
      out[i] = trained(mask, i) ? saturated(distance * whitener.factor + whitener.shift, T(0)) : T(0);
    }
  });
  return kOk;
}

template int64_t whiten(const WhitenRule&, int64_t, const float*, const uint8_t*, float*);
template int64_t whiten(const WhitenRule&, int64_t, const double*, const uint8_t*, double*);

}  // namespace MINFORM_ISA
}  // namespace minform
