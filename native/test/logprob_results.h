// What a log-prob kernel gives, in memory of its own.
#pragma once

#include <cstddef>
#include <vector>

#include "minform/logprob.h"

namespace minform {

template <class T>
struct Results {
  std::vector<T> logProbs, entropy, squares;
  std::vector<double> logSumExp;
  explicit Results(std::size_t rows) : logProbs(rows), entropy(rows), squares(rows), logSumExp(rows) {}
  LogProbOutput<T> out() { return {logProbs.data(), entropy.data(), squares.data(), logSumExp.data()}; }
};

}  // namespace minform
