// The decoder: gradients against central differences, and what must not change a bit.
#include "minform/model.h"

#include <cstring>

#include "check.h"
#include "model_toy.h"

using namespace minform;

static const CancelFlag kGo{false};

// Sequences of several lengths, each token predicting the next.
struct Batch {
  std::vector<int32_t> offsets{0}, ids, reads, targets;

  Batch(const std::vector<int64_t>& lengths, int64_t vocabulary, int32_t salt = 0) {
    for (const int64_t length : lengths) {
      for (int64_t i = 0; i < length; i++) {
        if (i + 1 < length) reads.push_back(static_cast<int32_t>(ids.size()));
        ids.push_back(static_cast<int32_t>((static_cast<int64_t>(ids.size()) * 7 + i * i + salt) % vocabulary));
        if (i > 0) targets.push_back(ids.back());
      }
      offsets.push_back(static_cast<int32_t>(ids.size()));
    }
  }
  Rows rows() const { return {offsets.data(), static_cast<int64_t>(offsets.size()) - 1}; }
  int64_t count() const { return static_cast<int64_t>(reads.size()); }
};

template <class T>
static std::vector<T> logProbs(Toy<T>& toy, const Batch& batch, Keep keep, std::vector<double>* logSumExp) {
  std::vector<T> out(batch.reads.size());
  logSumExp->resize(batch.reads.size());
  toy.engine.forward(toy.parameters, batch.rows(), batch.ids.data(), keep, kGo);
  CHECK(toy.engine.logProbs(toy.head, batch.reads.data(), batch.targets.data(), batch.count(), 1,
                            {out.data(), nullptr, nullptr, logSumExp->data()}, kGo) == kOk);
  return out;
}

// The loss is a weighted sum of log-probs.
static double weightOf(size_t i) { return std::sin(static_cast<double>(i) + 1); }

template <class T>
static double loss(Toy<T>& toy, const Batch& batch) {
  std::vector<double> logSumExp;
  const std::vector<T> values = logProbs(toy, batch, Keep::nothing, &logSumExp);
  double sum = 0;
  for (size_t i = 0; i < values.size(); i++) sum += weightOf(i) * static_cast<double>(values[i]);
  return sum;
}

template <class T>
static void backward(Toy<T>& toy, const Batch& batch, Keep keep) {
  std::vector<double> logSumExp;
  logProbs(toy, batch, keep, &logSumExp);
  std::vector<T> upstream(batch.reads.size());
  for (size_t i = 0; i < upstream.size(); i++) upstream[i] = static_cast<T>(weightOf(i));
  CHECK(toy.engine.logProbsBackward(toy.head, batch.reads.data(), batch.targets.data(), batch.count(), 1,
                                    {logSumExp.data(), nullptr, upstream.data(), nullptr}, toy.gradOf(toy.head.data),
                                    kGo) == kOk);
  toy.engine.backward(toy.parameters, kGo);
}

static void centralDifferences(const ToyOptions& options) {
  Toy<double> toy(options);
  const Batch batch({5, 1, 11, 2}, toy.shape.vocabulary);
  backward(toy, batch, Keep::activations);
  const double step = 1e-5;
  for (size_t tensor = 0; tensor < toy.tensors.size(); tensor++) {
    for (size_t i = 0; i < toy.tensors[tensor].size(); i += 1 + toy.tensors[tensor].size() / 5) {
      double& value = toy.tensors[tensor][i];
      const double old = value;
      value = old + step;
      const double up = loss(toy, batch);
      value = old - step;
      const double down = loss(toy, batch);
      value = old;
      const double expected = (up - down) / (2 * step);
      CHECK_NEAR(toy.grads[tensor][i], expected, 1e-6 * std::fmax(1, std::fabs(expected)));
    }
  }
}

template <class T>
static bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

// Two long enough to need several blocks of queries, keys and depth.
static const std::vector<int64_t> kLengths{70, 3, 301, 17};

static void threadsAndRecomputing() {
  Toy<float> reference, other, lean;
  const Batch batch(kLengths, reference.shape.vocabulary);
  setNumThreads(1);
  backward(reference, batch, Keep::activations);
  setNumThreads(3);
  backward(other, batch, Keep::activations);
  backward(lean, batch, Keep::inputs);
  for (size_t i = 0; i < reference.grads.size(); i++) {
    CHECK(same(reference.grads[i], other.grads[i]));
    CHECK(same(reference.grads[i], lean.grads[i]));
  }
}

// A row alone, and among others.
static void batching() {
  Toy<float> toy;
  std::vector<double> logSumExp;
  const Batch batch(kLengths, toy.shape.vocabulary);
  const std::vector<float> together = logProbs(toy, batch, Keep::nothing, &logSumExp);
  size_t at = 0;
  for (int64_t row = 0; row < batch.rows().count; row++) {
    Batch alone({batch.rows().length(row)}, toy.shape.vocabulary);
    const int32_t* ids = batch.ids.data() + batch.rows().begin(row);
    alone.ids.assign(ids, ids + batch.rows().length(row));
    alone.targets.assign(ids + 1, ids + batch.rows().length(row));
    for (const float value : logProbs(toy, alone, Keep::nothing, &logSumExp)) CHECK(value == together[at++]);
  }
  CHECK(at == together.size());
}

struct Written {
  std::vector<int32_t> tokens;
  std::vector<std::atomic<int32_t>> lengths;
  std::vector<float> logProbs;
  std::vector<uint8_t> stopped;
};

static Written write(Toy<float>& toy, const Batch& prompts, const std::vector<int32_t>& promptOf,
                     const std::vector<int32_t>& sampleOf, int64_t maxTokens, int64_t batch,
                     const SamplingRule& rule = {.8, 0, 1, 0}, uint64_t seed = 5, int64_t stopCount = 1,
                     const std::atomic<uint8_t>* ended = nullptr) {
  const auto rows = static_cast<int64_t>(promptOf.size());
  Written out{std::vector<int32_t>(static_cast<size_t>(rows * maxTokens), -1),
              std::vector<std::atomic<int32_t>>(static_cast<size_t>(rows)),
              std::vector<float>(static_cast<size_t>(rows * maxTokens)),
              std::vector<uint8_t>(static_cast<size_t>(rows))};
  const int32_t stop = 3;
  const Generation<float> request{prompts.rows(),
                                  prompts.ids.data(),
                                  rows,
                                  promptOf.data(),
                                  sampleOf.data(),
                                  seed,
                                  rule,
                                  &stop,
                                  stopCount,
                                  maxTokens,
                                  batch,
                                  toy.head,
                                  out.tokens.data(),
                                  out.logProbs.data(),
                                  out.lengths.data(),
                                  out.stopped.data(),
                                  ended};
  CHECK(toy.engine.generate(toy.parameters, request, kGo) == kOk);
  return out;
}

// Log-probs of generated tokens are those of a training pass over them, to the bit.
static void onPolicy(const ToyOptions& options) {
  Toy<float> toy(options);
  const Batch prompts({4, 70, 1}, toy.shape.vocabulary);
  const int64_t maxTokens = 260;
  const Written written = write(toy, prompts, {0, 1, 2, 0, 1}, {0, 0, 0, 1, 1}, maxTokens, 3, {.8, 0, 1, 0}, 5, 0);
  const std::vector<int64_t> promptOf{0, 1, 2, 0, 1};
  int64_t compared = 0;
  for (size_t row = 0; row < promptOf.size(); row++) {
    const int64_t length = prompts.rows().length(promptOf[row]), begin = prompts.rows().begin(promptOf[row]);
    const int64_t drawn = written.lengths[row];
    Batch whole({length + drawn}, toy.shape.vocabulary);
    for (int64_t i = 0; i < length; i++)
      whole.ids[static_cast<size_t>(i)] = prompts.ids[static_cast<size_t>(begin + i)];
    const int32_t* tokens = written.tokens.data() + static_cast<int64_t>(row) * maxTokens;
    for (int64_t i = 0; i < drawn; i++) whole.ids[static_cast<size_t>(length + i)] = tokens[i];
    whole.targets.assign(whole.ids.begin() + 1, whole.ids.end());
    std::vector<double> logSumExp(whole.reads.size());
    std::vector<float> values(whole.reads.size());
    toy.engine.forward(toy.parameters, whole.rows(), whole.ids.data(), Keep::nothing, kGo);
    toy.engine.logProbs(toy.head, whole.reads.data(), whole.targets.data(), whole.count(), .8,
                        {values.data(), nullptr, nullptr, logSumExp.data()}, kGo);
    for (int64_t i = 0; i < drawn; i++) {
      const float recorded = written.logProbs[row * static_cast<size_t>(maxTokens) + static_cast<size_t>(i)];
      CHECK(values[static_cast<size_t>(length - 1 + i)] == recorded);
      compared++;
    }
    CHECK(drawn == maxTokens && written.stopped[row] == 0);
  }
  CHECK(compared == 5 * maxTokens);
}

static void generationIsPerRow() {
  Toy<float> toy;
  const Batch prompts({4, 9, 1}, toy.shape.vocabulary), alone({4}, toy.shape.vocabulary);
  const Written many = write(toy, prompts, {1, 0, 2, 0, 0}, {0, 0, 0, 1, 2}, 20, 2);
  for (size_t row = 0; row < 5; row++) {
    const auto last = static_cast<size_t>(many.lengths[row] - 1);
    CHECK((many.tokens[row * 20 + last] == 3) == (many.stopped[row] == 1));
    for (size_t i = 0; i < last; i++) CHECK(many.tokens[row * 20 + i] != 3);
  }
  const Written one = write(toy, alone, {0}, {2}, 20, 64);
  CHECK(many.lengths[4] == one.lengths[0]);
  for (int32_t i = 0; i < one.lengths[0]; i++) {
    CHECK(many.tokens[80 + static_cast<size_t>(i)] == one.tokens[static_cast<size_t>(i)]);
    CHECK(many.logProbs[80 + static_cast<size_t>(i)] == one.logProbs[static_cast<size_t>(i)]);
  }
  CHECK(!same(many.tokens, write(toy, prompts, {1, 0, 2, 0, 0}, {0, 0, 0, 1, 2}, 20, 2, {.8, 0, 1, 0}, 6).tokens));
  const Written greedy = write(toy, prompts, {0, 0}, {0, 1}, 20, 2, {0, 0, 1, 0});
  for (size_t i = 0; i < 20; i++) CHECK(greedy.tokens[i] == greedy.tokens[20 + i]);
  CHECK(same(greedy.tokens, write(toy, prompts, {0, 0}, {0, 1}, 20, 2, {3, 1, 1, 0}).tokens));
  CHECK(same(greedy.tokens, write(toy, prompts, {0, 0}, {0, 1}, 20, 2, {3, 0, 1e-9, 0}).tokens));
  CHECK(same(greedy.tokens, write(toy, prompts, {0, 0}, {0, 1}, 20, 2, {3, 0, 1, 1}).tokens));
}

// A row that is ended by its flag writes the token under way and leaves its slot to the next; no other row changes.
static void endedRows() {
  Toy<float> toy;
  const Batch prompts({4, 9}, toy.shape.vocabulary);
  const std::vector<int32_t> promptOf{0, 0, 1, 0, 1}, sampleOf{0, 1, 0, 2, 1};
  const int64_t maxTokens = 20;
  const SamplingRule rule{.8, 0, 1, 0};
  const Written whole = write(toy, prompts, promptOf, sampleOf, maxTokens, 2, rule, 5, 0);
  std::vector<std::atomic<uint8_t>> ended(promptOf.size());
  ended[1] = ended[2] = 1;
  const Written part = write(toy, prompts, promptOf, sampleOf, maxTokens, 2, rule, 5, 0, ended.data());
  for (size_t row = 0; row < promptOf.size(); row++) {
    const int64_t written = ended[row] == 1 ? 1 : maxTokens;
    CHECK(part.lengths[row] == written && part.stopped[row] == 0);
    for (int64_t i = 0; i < maxTokens; i++) {
      const size_t at = row * static_cast<size_t>(maxTokens) + static_cast<size_t>(i);
      CHECK(part.tokens[at] == (i < written ? whole.tokens[at] : -1));
      CHECK(part.logProbs[at] == (i < written ? whole.logProbs[at] : 0));
    }
  }
}

int main() {
  centralDifferences({});
  ToyOptions plain;
  plain.biases = plain.headNorms = false;
  plain.kvHeads = 4;
  plain.windows = {0};
  plain.headDim = 32;
  centralDifferences(plain);
  ToyOptions adapted;
  adapted.adapterRank = 3;
  centralDifferences(adapted);
  threadsAndRecomputing();
  batching();
  onPolicy({});
  onPolicy(plain);
  onPolicy(adapted);
  generationIsPerRow();
  endedRows();
  return checkResult();
}
