// Row weights and counts of the aggregations.
#include "walk.h"

namespace minform {
namespace MINFORM_ISA {

RowPlan::RowPlan(const Rows& rows, const uint8_t* mask, const Aggregation& aggregation)
    : lengths_(rows.count), weights_(rows.count) {
  double filled = 0;
  for (int64_t row = 0; row < rows.count; row++) {
    int64_t length = rows.length(row);
    if (mask != nullptr) {
      length = 0;
      for (int64_t i = rows.begin(row); i < rows.end(row); i++) length += mask[i] != 0;
    }
    lengths_[row] = length;
    tokens += static_cast<double>(length);
    filled += length > 0;
  }
  const bool ownPrompts = aggregation.mode == AggregationMode::promptMean && aggregation.promptTokens == nullptr;
  Scratch<double> promptTokens(ownPrompts ? aggregation.groupCount : 0);
  if (ownPrompts) {
    for (int64_t group = 0; group < aggregation.groupCount; group++) promptTokens[group] = 0;
    for (int64_t row = 0; row < rows.count; row++) {
      promptTokens[aggregation.groups[row]] += static_cast<double>(lengths_[row]);
    }
  }
  double prompts = 0;
  for (int64_t row = 0; row < rows.count; row++) {
    const double length = static_cast<double>(lengths_[row]);
    weights_[row] = 1;
    if (length == 0) continue;
    if (aggregation.mode == AggregationMode::seqMeanTokenMean) weights_[row] = 1 / length;
    if (aggregation.mode == AggregationMode::promptMean) {
      const double ofPrompt = ownPrompts ? promptTokens[aggregation.groups[row]] : aggregation.promptTokens[row];
      if (!(ofPrompt >= length)) {
        status = kBadPromptTokens - row;
        return;
      }
      weights_[row] = 1 / ofPrompt;
      prompts += length / ofPrompt;
    }
  }
  switch (aggregation.mode) {
    case AggregationMode::tokenMean:
      count = tokens;
      break;
    case AggregationMode::seqMeanTokenSum:
    case AggregationMode::seqMeanTokenMean:
      count = filled;
      break;
    case AggregationMode::promptMean:
      count = prompts;
      break;
    case AggregationMode::sum:
      count = 1;
      break;
  }
  denominator_ = isNaN(aggregation.denominator) ? count : aggregation.denominator;
}

}  // namespace MINFORM_ISA
}  // namespace minform
