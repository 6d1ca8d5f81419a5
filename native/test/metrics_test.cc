// Suffix arrays against sorting, and repetition scores by hand.
#include "minform/metrics.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "check.h"

using namespace minform;

static void checkSuffixArray(const std::vector<int32_t>& text, int32_t alphabet) {
  std::vector<int32_t> sorted(text.size()), found(text.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::sort(sorted.begin(), sorted.end(), [&](int32_t a, int32_t b) {
    return std::lexicographical_compare(text.begin() + a, text.end(), text.begin() + b, text.end());
  });
  suffixArray(text.data(), static_cast<int32_t>(text.size()), alphabet, found.data());
  CHECK(found == sorted);
}

int main() {
  uint32_t state = 1;
  for (int round = 0; round < 2000; round++) {
    const int32_t alphabet = 1 + round % 5;
    std::vector<int32_t> text(static_cast<size_t>(round % 97));
    for (int32_t& letter : text) {
      state = state * 1664525u + 1013904223u;
      letter = static_cast<int32_t>((state >> 16) % static_cast<uint32_t>(alphabet));
    }
    checkSuffixArray(text, alphabet);
  }
  const int32_t offsets[] = {0, 0, 1, 3, 9};
  const int32_t ids[] = {7, 5, 5, 2, 1, 3, 1, 3, 1};  // "", "a", "aa", "banana"
  double scores[4];
  repetitionScores({offsets, 4}, ids, scores);
  CHECK(scores[0] == 0);
  CHECK(scores[1] == 0);
  CHECK_NEAR(scores[2], 1.0 / 3, 1e-15);
  CHECK_NEAR(scores[3], 2.0 / 7, 1e-15);
  return checkResult();
}
