#include "minform/sampling.h"

#include <memory>
#include <vector>

#include "addon.h"
#include "minform/cuda/sampling.h"
#include "placed_job.h"

namespace minform {

namespace {

// On the host a copy: the caller's is not aligned for 64-bit numbers.
struct Counters {
  std::shared_ptr<const std::vector<RandomCounter>> copy;
  const RandomCounter* onDevice = nullptr;
  const RandomCounter* data() const { return copy == nullptr ? onDevice : copy->data(); }
};

// Four 32-bit words per row: step, sample, the lower and the upper half of prompt.
Counters countersOf(const Args& args, size_t index, int64_t rows) {
  static_assert(sizeof(RandomCounter) == 4 * sizeof(int32_t), "RandomCounter is four words");
  const int32_t* words = args.array<int32_t>(index, 4 * rows);
  if (args.onDevice()) return {nullptr, reinterpret_cast<const RandomCounter*>(words)};
  auto copy = std::make_shared<std::vector<RandomCounter>>(static_cast<size_t>(rows));
  std::memcpy(copy->data(), words, copy->size() * sizeof(RandomCounter));
  return {copy};
}

SamplingRule ruleOf(const Args& args, size_t index) {
  const double temperature = args.number(index);
  if (temperature != 0 && !(temperature >= 1e-6 && temperature <= 1e6)) args.fail(index, "is no temperature");
  return {temperature, args.integer(index + 1), args.number(index + 2), args.number(index + 3)};
}

uint64_t seedOf(const Args& args, size_t index) {
  return static_cast<uint64_t>(static_cast<uint32_t>(args.integer(index + 1))) << 32 |
         static_cast<uint32_t>(args.integer(index));
}

// (logits, element, rows, columns, temperature, topK, topP, minP, lower and upper half of the seed, counters, tokens,
// logProbs?, truncatedLogProbs?) -> job
Napi::Value sample(const Napi::CallbackInfo& info) {
  const Args args(info, Args::kAny);
  const Matrix logits = matrix(args, 0);
  if (logits.columns > kMaxSamplingColumns) args.fail(3, "is too large a vocabulary");
  const SamplingRule rule = ruleOf(args, 4);
  const uint64_t seed = seedOf(args, 8);
  const Counters counters = countersOf(args, 10, logits.rows);
  int32_t* tokens = args.output<int32_t>(11, logits.rows);
  return byResult(logits.element, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    const SamplingOutput<T> out{tokens, args.optionalOutput<T>(12, logits.rows),
                                args.optionalOutput<T>(13, logits.rows)};
    return runJob(
        args, info,
        [=](const CancelFlag& cancelled) {
          return sampling<T>().sample(logits, rule, seed, counters.data(), out, cancelled);
        },
        [&](auto status, auto stream) {
          cuda::sampleTokens(logits, rule, seed, counters.data(), out, status, stream);
        });
  });
}

}  // namespace

void registerSampling(Napi::Env env, Napi::Object exports) { Family(env, exports, "sampling").add("sample", sample); }

}  // namespace minform
