// Suffix arrays by induced sorting (Nong, Zhang, Chan: "Two efficient algorithms for linear time suffix array
// construction", 2011). The end of the text counts as a letter smaller than all others and is not stored.
//
// A suffix is "rising" when it is smaller than its right neighbour, else "falling". The leftmost suffixes of rising
// runs ("valleys") are sorted first, by recursion on their names; all others follow from them in two scans.
#include <algorithm>
#include <vector>

#include "minform/metrics.h"

namespace minform {

namespace {

using Indices = std::vector<int32_t>;

class Sorter {
 public:
  Sorter(const int32_t* text, int32_t count, int32_t alphabet, int32_t* suffixes)
      : text_(text),
        count_(count),
        sizes_(static_cast<size_t>(alphabet)),
        rising_(static_cast<size_t>(count)),
        out_(suffixes) {
    for (int32_t i = 0; i < count; i++) sizes_[letter(i)]++;
    for (int32_t i = count - 2; i >= 0; i--) {
      rising_[at(i)] = text[i] < text[i + 1] || (text[i] == text[i + 1] && rising_[at(i + 1)]);
    }
    for (int32_t i = 1; i < count; i++) {
      if (isValley(i)) valleys_.push_back(i);
    }
  }

  void sort() {
    induce(valleys_);  // sorts the valley substrings (valley to next valley)
    Indices order;
    for (int32_t i = 0; i < count_; i++) {
      if (isValley(out_[i])) order.push_back(out_[i]);
    }
    if (!order.empty()) sortValleys(order);
    induce(order);
  }

 private:
  static size_t at(int32_t i) { return static_cast<size_t>(i); }
  size_t letter(int32_t i) const { return static_cast<size_t>(text_[i]); }
  bool isValley(int32_t i) const { return i > 0 && rising_[at(i)] && !rising_[at(i - 1)]; }

  // First (or one past the last) place of every letter's bucket.
  Indices buckets(bool ends) const {
    Indices places(sizes_.size());
    int32_t sum = 0;
    for (size_t c = 0; c < sizes_.size(); c++) {
      places[c] = ends ? sum + sizes_[c] : sum;
      sum += sizes_[c];
    }
    return places;
  }

  // Fills the output from valleys in their order: falling suffixes left to right, then rising ones right to left.
  void induce(const Indices& valleys) {
    std::fill(out_, out_ + count_, -1);
    Indices places = buckets(true);
    for (auto i = valleys.rbegin(); i != valleys.rend(); ++i) out_[--places[letter(*i)]] = *i;

    places = buckets(false);
    out_[places[letter(count_ - 1)]++] = count_ - 1;  // the neighbour of the end of the text
    for (int32_t k = 0; k < count_; k++) {
      const int32_t i = out_[k] - 1;
      if (i >= 0 && !rising_[at(i)]) out_[places[letter(i)]++] = i;
    }
    places = buckets(true);
    for (int32_t k = count_ - 1; k >= 0; k--) {
      const int32_t i = out_[k] - 1;
      if (i >= 0 && rising_[at(i)]) out_[--places[letter(i)]] = i;
    }
  }

  // Given valleys ordered by their substrings, orders them by their suffixes.
  void sortValleys(Indices& order) const {
    // Length of the substring that starts at valley number k, its closing valley included.
    const auto length = [&](int32_t k) {
      return at(k) + 1 < valleys_.size() ? valleys_[at(k) + 1] - valleys_[at(k)] + 1 : count_ - valleys_[at(k)];
    };
    Indices number(at(count_ / 2 + 1));  // valleys are at least two apart
    for (size_t k = 0; k < valleys_.size(); k++) number[at(valleys_[k] / 2)] = static_cast<int32_t>(k);

    Indices names(valleys_.size());
    int32_t name = 0;
    for (size_t k = 0; k < order.size(); k++) {
      const int32_t current = number[at(order[k] / 2)];
      if (k > 0) {
        const int32_t previous = number[at(order[k - 1] / 2)];
        const bool last = at(current) + 1 == valleys_.size() || at(previous) + 1 == valleys_.size();
        const bool same = !last && length(current) == length(previous) &&
                          std::equal(text_ + order[k], text_ + order[k] + length(current), text_ + order[k - 1]);
        if (!same) name++;
      }
      names[at(current)] = name;
    }
    if (at(name) + 1 == order.size()) return;  // every substring has a name of its own: already sorted

    Indices sorted(valleys_.size());
    suffixArray(names.data(), static_cast<int32_t>(names.size()), name + 1, sorted.data());
    for (size_t k = 0; k < order.size(); k++) order[k] = valleys_[at(sorted[k])];
  }

  const int32_t* text_;
  int32_t count_;
  Indices sizes_;
  std::vector<bool> rising_;
  Indices valleys_;  // in text order
  int32_t* out_;
};

}  // namespace

void suffixArray(const int32_t* text, int32_t count, int32_t alphabet, int32_t* suffixes) {
  if (count > 0) Sorter(text, count, alphabet, suffixes).sort();
}

}  // namespace minform
