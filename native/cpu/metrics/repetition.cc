// The repetition score: how much of the text its sorted suffixes share with their neighbours.
#include <algorithm>
#include <atomic>
#include <new>
#include <vector>

#include "minform/metrics.h"
#include "minform/pool.h"

namespace minform {

namespace {

using Indices = std::vector<int32_t>;

// Replaces ids by their ranks among the distinct ids. Returns how many are distinct.
int32_t rankIds(const int32_t* ids, Indices& ranks) {
  const size_t count = ranks.size();
  const int32_t largest = *std::max_element(ids, ids + count);
  if (static_cast<size_t>(largest) <= 4 * count) {
    Indices rankOf(static_cast<size_t>(largest) + 1);
    for (size_t i = 0; i < count; i++) rankOf[static_cast<size_t>(ids[i])] = 1;
    int32_t next = 0;
    for (int32_t& rank : rankOf) rank = rank != 0 ? next++ : -1;
    for (size_t i = 0; i < count; i++) ranks[i] = rankOf[static_cast<size_t>(ids[i])];
    return next;
  }
  Indices distinct(ids, ids + count);
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (size_t i = 0; i < count; i++) {
    ranks[i] = static_cast<int32_t>(std::lower_bound(distinct.begin(), distinct.end(), ids[i]) - distinct.begin());
  }
  return static_cast<int32_t>(distinct.size());
}

// Sum of the longest common prefixes of neighbours in the suffix array (Kasai et al. 2001, in text order).
int64_t sharedPrefixes(const Indices& text, const Indices& suffixes) {
  const auto count = static_cast<int32_t>(text.size());
  Indices before(text.size());  // the suffix sorted just before each suffix
  before[static_cast<size_t>(suffixes[0])] = -1;
  for (size_t k = 1; k < suffixes.size(); k++) before[static_cast<size_t>(suffixes[k])] = suffixes[k - 1];
  int64_t sum = 0;
  int32_t shared = 0;
  for (int32_t i = 0; i < count; i++) {
    const int32_t j = before[static_cast<size_t>(i)];
    if (j < 0) {
      shared = 0;
      continue;
    }
    const int32_t limit = count - std::max(i, j);
    while (shared < limit && text[static_cast<size_t>(i + shared)] == text[static_cast<size_t>(j + shared)]) shared++;
    sum += shared;
    if (shared > 0) shared--;
  }
  return sum;
}

double repetitionScore(const int32_t* ids, int64_t count) {
  if (count <= 1) return 0;
  Indices text(static_cast<size_t>(count)), suffixes(static_cast<size_t>(count));
  const int32_t alphabet = rankIds(ids, text);
  suffixArray(text.data(), static_cast<int32_t>(count), alphabet, suffixes.data());
  const auto n = static_cast<double>(count);
  return 2.0 * static_cast<double>(sharedPrefixes(text, suffixes)) / (n * (n + 1));
}

struct Batch {
  const Rows& rows;
  const int32_t* ids;
  double* scores;
  std::atomic<bool> outOfMemory{false};
};

}  // namespace

void repetitionScores(const Rows& rows, const int32_t* ids, double* scores) {
  Batch batch{rows, ids, scores};
  const auto score = [](void* context, int64_t row) {
    auto& work = *static_cast<Batch*>(context);
    try {
      work.scores[row] = repetitionScore(work.ids + work.rows.begin(row), work.rows.length(row));
    } catch (const std::bad_alloc&) {
      work.outOfMemory = true;  // nothing may leave the body of a parallelFor
    }
  };
  parallelFor(rows.count, score, &batch);
  if (batch.outOfMemory) throw std::bad_alloc();
}

}  // namespace minform
