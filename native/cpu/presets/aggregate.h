// From token losses to the scalar, by the peers' divisors.
#pragma once

#include "padded.h"

namespace minform {
namespace MINFORM_ISA {
namespace peers {

// What one unit of masked token loss in a row adds to the scalar.
class RowWeights {
 public:
  RowWeights(const PaddedShape& shape, const PeerAggregateRule& rule) : rule_(rule), weights_(shape.rows) {
    int64_t counted = 0, tokens = 0;
    for (int64_t row = 0; row < shape.rows; row++) {
      const int64_t length = rowLength(shape, row);
      tokens += length;
      counted += length > 0;
      weights_[row] = length == 0 && rule.skipEmpty != 0 ? 0 : 1 / rowDivisor(static_cast<double>(length));
    }
    const double divisor = rule.scale * batchDivisor(static_cast<double>(tokens), static_cast<double>(counted),
                                                     static_cast<double>(shape.rows));
    for (int64_t row = 0; row < shape.rows; row++) weights_[row] /= divisor;
  }

  double operator[](int64_t row) { return weights_[row]; }

  // The row's share of the loss; `tokenLoss(i)` is not asked for tokens that are left out.
  template <class Body>
  double rowLoss(const PaddedShape& shape, int64_t row, const Body& tokenLoss) {
    if (weights_[row] == 0) return 0;
    double sum = 0;
    for (int64_t i = row * shape.width; i < (row + 1) * shape.width; i++) {
      if (rule_.select == 0 || shape.mask[i] != 0) sum += tokenLoss(i) * shape.mask[i];
    }
    return sum * weights_[row];
  }

 private:
  double rowDivisor(double length) const {
    switch (rule_.row) {
      case PeerRowDivisor::none:
        return 1;
      case PeerRowDivisor::length:
        return length;
      case PeerRowDivisor::lengthAtLeastOne:
        return larger(length, 1.0);
      case PeerRowDivisor::lengthPlusEpsilon:
        return length + 1e-8;
    }
    return 1;
  }

  double batchDivisor(double tokens, double counted, double rows) const {
    switch (rule_.batch) {
      case PeerBatchDivisor::tokens:
        return tokens;
      case PeerBatchDivisor::tokensAtLeastOne:
        return larger(tokens, 1.0);
      case PeerBatchDivisor::tokensPlusEpsilon:
        return tokens + 1e-8;
      case PeerBatchDivisor::countedRows:
        return counted;
      case PeerBatchDivisor::rows:
        return rows;
      case PeerBatchDivisor::one:
        return 1;
    }
    return 1;
  }

  PeerAggregateRule rule_;
  Scratch<double> weights_;
};

}  // namespace peers
}  // namespace MINFORM_ISA
}  // namespace minform
