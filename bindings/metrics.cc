#include "minform/metrics.h"

#include "addon.h"
#include "args.h"

namespace minform {

namespace {

// (ids, offsets, scores)
void scoreRepetition(const Napi::CallbackInfo& info) {
  const Args args(info);
  int64_t total = 0;
  const int32_t* ids = args.array<int32_t>(0, &total);
  const Rows rows = args.rows(1, total);
  repetitionScores(rows, ids, args.array<double>(2, rows.count));
}

}  // namespace

void registerMetrics(Napi::Env env, Napi::Object exports) {
  Family(env, exports, "metrics").add("repetitionScores", scoreRepetition);
}

}  // namespace minform
