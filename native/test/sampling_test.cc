// Sampling against a definition by sorting, and its random numbers against the published answer.
#include "minform/sampling.h"

#include <algorithm>
#include <vector>

#include "check.h"

using namespace minform;

namespace {

const CancelFlag kGoOn{false};

// Known answer of Philox4x32-10 for counter 0 and key 0 (Random123, kat_vectors): 6627e8d5 e169c58d ...
void randomNumbers() {
  CHECK(uniformAt(0, {0, 0, 0}) ==
        static_cast<double>((uint64_t{0x6627E8D5} << 21) ^ (uint64_t{0xE169C58D} >> 11)) * 0x1p-53);
  CHECK(uniformAt(1, {0, 0, 0}) != uniformAt(0, {0, 0, 0}));
  CHECK(uniformAt(uint64_t{1} << 32, {0, 0, 0}) != uniformAt(0, {0, 0, 0}));
  CHECK(uniformAt(0, {0, 0, uint64_t{1} << 32}) != uniformAt(0, {0, 0, 0}));
}

// Many ties, some of them impossible tokens.
template <class T>
std::vector<T> rowOf(int64_t count, uint32_t seed) {
  std::vector<T> logits;
  for (int64_t i = 0; i < count; i++) {
    seed = seed * 1664525 + 1013904223;
    logits.push_back(seed >> 28 == 7 ? T(-INFINITY) : static_cast<T>((seed >> 24) % 40) / 4);
  }
  return logits;
}

struct Expected {
  int32_t token;
  double logProb, truncated;
};

template <class T>
Expected byDefinition(const std::vector<T>& logits, const SamplingRule& rule, double uniform) {
  const double temperature = rule.temperature == 0 ? 1 : rule.temperature;
  const double max = *std::max_element(logits.begin(), logits.end());
  std::vector<double> weights;
  double whole = 0;
  for (const T logit : logits) {
    weights.push_back(std::exp((static_cast<double>(logit) - max) / temperature));
    whole += weights.back();
  }
  std::vector<int32_t> ids;
  for (size_t i = 0; i < logits.size(); i++) {
    if (weights[i] > 0 && weights[i] >= rule.minP) ids.push_back(static_cast<int32_t>(i));
  }
  const auto before = [&](int32_t a, int32_t b) {
    return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)];
  };
  if (rule.temperature == 0 || rule.topK > 0 || rule.topP < 1 || rule.minP > 0) {
    std::stable_sort(ids.begin(), ids.end(), before);
  }
  if (rule.temperature == 0) return {ids[0], -std::log(whole), 0};
  if (rule.topK > 0 && static_cast<size_t>(rule.topK) < ids.size()) ids.resize(static_cast<size_t>(rule.topK));
  const auto sumOf = [&] {
    double sum = 0;
    for (const int32_t id : ids) sum += weights[static_cast<size_t>(id)];
    return sum;
  };
  if (rule.topP < 1) {
    const double wanted = rule.topP * sumOf();
    size_t kept = 0;
    for (double sum = 0; kept == 0 || sum < wanted; kept++) sum += weights[static_cast<size_t>(ids[kept])];
    ids.resize(kept);
  }
  const double left = sumOf();
  size_t chosen = 0;
  for (double sum = 0; (sum += weights[static_cast<size_t>(ids[chosen])]) <= uniform * left;) chosen++;
  const double weight = weights[static_cast<size_t>(ids[chosen])];
  return {ids[chosen], std::log(weight / whole), std::log(weight / left)};
}

template <class T>
void agrees(Element element, const SamplingRule& rule) {
  const int64_t rows = 40, columns = 301;
  std::vector<T> logits, logProbs(rows), truncated(rows);
  std::vector<RandomCounter> counters;
  std::vector<int32_t> tokens(rows);
  for (int64_t row = 0; row < rows; row++) {
    const std::vector<T> one = rowOf<T>(columns, static_cast<uint32_t>(row));
    logits.insert(logits.end(), one.begin(), one.end());
    counters.push_back({static_cast<uint32_t>(row), 3, 5});
  }
  CHECK(sampling<T>().sample({logits.data(), element, rows, columns}, rule, 99, counters.data(),
                             {tokens.data(), logProbs.data(), truncated.data()}, kGoOn) == kOk);
  for (int64_t row = 0; row < rows; row++) {
    const size_t i = static_cast<size_t>(row);
    const Expected expected =
        byDefinition(rowOf<T>(columns, static_cast<uint32_t>(row)), rule, uniformAt(99, counters[i]));
    CHECK(tokens[i] == expected.token);
    CHECK_NEAR(logProbs[i], expected.logProb, 2e-6 * std::fmax(1, -expected.logProb));
    CHECK_NEAR(truncated[i], expected.truncated, 2e-6 * std::fmax(1, -expected.truncated));
  }
}

// Draws follow the distribution: the largest deviation of 20,000 draws from it is within five standard deviations.
void distribution() {
  const int64_t rows = 20000;
  const std::vector<float> one{0, 1, 2, -1};
  std::vector<float> logits;
  std::vector<RandomCounter> counters;
  for (int64_t row = 0; row < rows; row++) {
    logits.insert(logits.end(), one.begin(), one.end());
    counters.push_back({static_cast<uint32_t>(row), 0, 0});
  }
  std::vector<int32_t> tokens(static_cast<size_t>(rows));
  for (const int64_t topK : {0, 3}) {
    CHECK(sampling<float>().sample({logits.data(), Element::float32, rows, 4}, {1, topK, 1, 0}, 1, counters.data(),
                                   {tokens.data(), nullptr, nullptr}, kGoOn) == kOk);
    const double whole = 1 + std::exp(1) + std::exp(2) + (topK == 0 ? std::exp(-1) : 0);
    for (int32_t token = 0; token < 4; token++) {
      const double p = token == 3 && topK > 0 ? 0 : std::exp(one[static_cast<size_t>(token)]) / whole;
      const double seen = static_cast<double>(std::count(tokens.begin(), tokens.end(), token));
      CHECK_NEAR(seen, p * rows, 5 * std::sqrt(rows * p * (1 - p)));
    }
  }
}

void undefinedRows() {
  const float inf = INFINITY;
  const std::vector<float> logits{0, 1, -inf, -inf, NAN, 1, inf, 0};
  const RandomCounter counters[4] = {};
  int32_t tokens[4];
  const SamplingOutput<float> out{tokens, nullptr, nullptr};
  const auto status = [&](int64_t first, int64_t rows) {
    return sampling<float>().sample({logits.data() + 2 * first, Element::float32, rows, 2}, {1, 0, 1, 0}, 1, counters,
                                    out, kGoOn);
  };
  CHECK(status(0, 1) == kOk);
  CHECK(status(0, 4) == 1);
  CHECK(status(2, 2) == 0);
  CHECK(status(3, 1) == 0);
}

template <class T>
void allOf(Element element) {
  for (const double temperature : {1.0, .3, 5.0, 0.0}) {
    for (const SamplingRule& rule : {SamplingRule{temperature, 0, 1, 0}, SamplingRule{temperature, 5, 1, 0},
                                     SamplingRule{temperature, 0, .8, 0}, SamplingRule{temperature, 0, 1, .2},
                                     SamplingRule{temperature, 20, .6, .01}, SamplingRule{temperature, 1, 1, 0},
                                     SamplingRule{temperature, 0, 1e-9, 0}, SamplingRule{temperature, 1000, .99, 0}}) {
      agrees<T>(element, rule);
    }
  }
}

}  // namespace

int main() {
  randomNumbers();
  allOf<float>(Element::float32);
  allOf<double>(Element::float64);
  distribution();
  undefinedRows();
  return checkResult();
}
