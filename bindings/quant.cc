#include "minform/quant.h"

#include "addon.h"
#include "args.h"
#include "elements.h"
#include "promise_worker.h"

namespace minform {

namespace {

// (weights, element, rows, columns, bits, packed, scales) -> job
Napi::Value quantizeRows(const Napi::CallbackInfo& info) {
  const Args args(info);
  const Matrix weights = matrix(args, 0);
  if (weights.element == Element::float64) args.fail(1, "is no type of stored weights");
  const int32_t bits = args.integer(4);
  if (bits != 4 && bits != 8) args.fail(4, "is neither 4 nor 8");
  const int64_t blocks = weights.rows * quantBlocks(weights.columns);
  const QuantizedRows out{bits, args.array<uint8_t>(5, blocks * kQuantBlock * bits / 8), args.array<float>(6, blocks)};
  return PromiseWorkers::start(
      info, [=](const CancelFlag& cancelled) { return quant<float>().quantizeRows(weights, out, cancelled); });
}

}  // namespace

void registerQuant(Napi::Env env, Napi::Object exports) {
  Family(env, exports, "quant").add("quantizeRows", quantizeRows);
}

}  // namespace minform
