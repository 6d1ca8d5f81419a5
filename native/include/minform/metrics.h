// Statistics of generated sequences.
#pragma once

#include <cstdint>

#include "minform/ragged.h"

namespace minform {

// Per row of n ids: 2 (sum of the LCP array over the suffix array) / (n (n + 1)), 0 for n <= 1. Linear in n for any
// ids >= 0; needs about 22 bytes per id of the rows under way. Sums are exact integers, rounded to double once.
// Throws std::bad_alloc.
void repetitionScores(const Rows& rows, const int32_t* ids, double* scores);

// The suffix array of text[0 .. count) over the alphabet [0, alphabet), in linear time (induced sorting).
// Throws std::bad_alloc.
void suffixArray(const int32_t* text, int32_t count, int32_t alphabet, int32_t* suffixes);

}  // namespace minform
