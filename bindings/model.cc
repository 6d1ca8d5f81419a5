#include "minform/model.h"

#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "addon.h"
#include "args.h"
#include "model_args.h"
#include "promise_worker.h"

namespace minform {

namespace {

// (vocabulary, hidden, inner, heads, kvHeads, headDim, normEpsilon, headNorms, windows, frequencies, magnitude) ->
// engine
Napi::Value create(const Napi::CallbackInfo& info) {
  const Args args(info);
  std::array<int64_t, 6> sizes{};
  for (size_t i = 0; i < sizes.size(); i++) sizes[i] = extent(args, i);
  ModelShape shape{sizes[0], sizes[1], sizes[2],       {sizes[3], sizes[4], sizes[5]}, args.number(6), args.flag(7),
                   {},       {},       args.number(10)};
  const HeadShape& heads = shape.heads;
  if (heads.heads % heads.kvHeads != 0 || heads.heads / heads.kvHeads > 256) args.fail(4, "does not fit the heads");
  if (heads.headDim % 2 != 0 || heads.headDim > 256) args.fail(5, "is no head width");
  int64_t layers = 0;
  const int32_t* windows = args.array<int32_t>(8, &layers);
  for (int64_t i = 0; i < layers; i++) shape.windows.push_back(windows[i]);
  const float* frequencies = args.array<float>(9, heads.headDim / 2);
  shape.frequencies.assign(frequencies, frequencies + heads.headDim / 2);
  auto* handle = new EngineHandle(std::make_shared<Engine<float>>(std::move(shape)));
  return Napi::External<EngineHandle>::New(args.env(), handle, [](Napi::Env, EngineHandle* held) { delete held; });
}

// (engine) -> bytes of activations
Napi::Value bytes(const Napi::CallbackInfo& info) {
  const Args args(info);
  return Napi::Number::New(args.env(), static_cast<double>(engineOf(args, 0)->bytes()));
}

// (engine, parameters x5, ids, offsets, keep) -> job
Napi::Value forward(const Napi::CallbackInfo& info) {
  const Args args(info);
  const EngineHandle engine = engineOf(args, 0);
  auto parameters = std::make_shared<Parameters<float>>(parametersOf(args, 1, engine->shape()));
  const Sequences batch(args, 6, engine->shape().vocabulary);
  const auto keep = static_cast<Keep>(args.integer(8));
  return PromiseWorkers::start(info, [=](const CancelFlag& cancelled) {
    return engine->forward(*parameters, batch.rows(), batch.ids(), keep, cancelled);
  });
}

// (engine, parameters x5) -> job
Napi::Value backward(const Napi::CallbackInfo& info) {
  const Args args(info);
  const EngineHandle engine = engineOf(args, 0);
  auto parameters = std::make_shared<Parameters<float>>(parametersOf(args, 1, engine->shape()));
  return PromiseWorkers::start(info, [=](const CancelFlag& cancelled) {
    requireGradient(*engine);
    engine->backward(*parameters, cancelled);
    return kOk;
  });
}

LinearWeight<float> headWeight(const Args& args, size_t index, const ModelShape& shape) {
  return {args.array<float>(index, shape.vocabulary * shape.hidden), shape.vocabulary, shape.hidden, nullptr};
}

double temperatureOf(const Args& args, size_t index) {
  const double temperature = args.number(index);
  if (!(temperature >= 1e-6 && temperature <= 1e6)) args.fail(index, "is no temperature");
  return temperature;
}

// (engine, head, reads, targets, temperature, logProbs, entropy?, sumSquaredProbs?, logSumExp) -> job
Napi::Value logProbs(const Napi::CallbackInfo& info) {
  const Args args(info);
  const EngineHandle engine = engineOf(args, 0);
  const LinearWeight<float> head = headWeight(args, 1, engine->shape());
  const Indices reads = indices(args, 2), targets = indices(args, 3, head.outputs);
  const double temperature = temperatureOf(args, 4);
  const auto count = static_cast<int64_t>(reads->size());
  const LogProbOutput<float> out{args.array<float>(5, count), args.optionalArray<float>(6, count),
                                 args.optionalArray<float>(7, count), args.array<double>(8, count)};
  if (targets->size() != reads->size()) args.fail(3, "has the wrong length");
  return PromiseWorkers::start(info, [=](const CancelFlag& cancelled) {
    requireReads(*engine, *reads);
    return engine->logProbs(head, reads->data(), targets->data(), count, temperature, out, cancelled);
  });
}

// (engine, head, reads, targets, temperature, logSumExp, entropy?, gradLogProbs, gradEntropy?, gradHead?) -> job
Napi::Value logProbsBackward(const Napi::CallbackInfo& info) {
  const Args args(info);
  const EngineHandle engine = engineOf(args, 0);
  const LinearWeight<float> head = headWeight(args, 1, engine->shape());
  const Indices reads = indices(args, 2), targets = indices(args, 3, head.outputs);
  const double temperature = temperatureOf(args, 4);
  const auto count = static_cast<int64_t>(reads->size());
  const LogProbGradients<float> grads{args.array<double>(5, count), args.optionalArray<float>(6, count),
                                      args.array<float>(7, count), args.optionalArray<float>(8, count)};
  if (grads.gradEntropy != nullptr && grads.entropy == nullptr) args.fail(6, "is missing");
  if (targets->size() != reads->size()) args.fail(3, "has the wrong length");
  float* gradHead = args.optionalArray<float>(9, head.outputs * head.inputs);
  return PromiseWorkers::start(info, [=](const CancelFlag& cancelled) {
    requireGradient(*engine);
    requireReads(*engine, *reads);
    return engine->logProbsBackward(head, reads->data(), targets->data(), count, temperature, grads, gradHead,
                                    cancelled);
  });
}

// (engine, head x4, grads x4, inner, outputs, reads, values), the values one row per read.
struct ReadoutCall {
  EngineHandle engine;
  ReadoutHead<float> head;
  Indices reads;
  int64_t count;
  float* values;

  explicit ReadoutCall(const Args& args)
      : engine(engineOf(args, 0)),
        head(readoutHead(args, 1, engine->shape())),
        reads(indices(args, 11)),
        count(static_cast<int64_t>(reads->size())),
        values(args.array<float>(12, count * extent(args, 10))) {}
};

// ReadoutCall, its values written -> job
Napi::Value readout(const Napi::CallbackInfo& info) {
  const ReadoutCall call{Args(info)};
  return PromiseWorkers::start(info, [=](const CancelFlag&) {
    requireReads(*call.engine, *call.reads);
    call.engine->readout(call.head, call.reads->data(), call.count, call.values);
    return kOk;
  });
}

// ReadoutCall, its values the gradients of the outputs -> job
Napi::Value readoutBackward(const Napi::CallbackInfo& info) {
  const ReadoutCall call{Args(info)};
  return PromiseWorkers::start(info, [=](const CancelFlag&) {
    requireGradient(*call.engine);
    requireReads(*call.engine, *call.reads);
    call.engine->readoutBackward(call.head, call.reads->data(), call.count, call.values);
    return kOk;
  });
}

// An array that JavaScript and a job use at the same time.
template <class T>
std::atomic<T>* shared(T* array) {
  static_assert(sizeof(std::atomic<T>) == sizeof(T) && std::atomic<T>::is_always_lock_free);
  return reinterpret_cast<std::atomic<T>*>(array);
}

// (engine, parameters x5, head, promptIds, promptOffsets, promptOf, sampleOf, seed (two words), temperature, topK,
// topP, minP, stops, maxTokens, batch, tokens, logProbs, lengths, stopped, ended?) -> job
Napi::Value generate(const Napi::CallbackInfo& info) {
  const Args args(info);
  const EngineHandle engine = engineOf(args, 0);
  const ModelShape& shape = engine->shape();
  auto parameters = std::make_shared<Parameters<float>>(parametersOf(args, 1, shape));
  const Sequences prompts(args, 7, shape.vocabulary);
  for (int64_t i = 0; i < prompts.rows().count; i++) {
    if (prompts.rows().length(i) == 0) args.fail(8, "has an empty prompt");
  }
  const Indices promptOf = indices(args, 9, prompts.rows().count), sampleOf = indices(args, 10);
  const auto rows = static_cast<int64_t>(promptOf->size());
  if (sampleOf->size() != promptOf->size()) args.fail(10, "has the wrong length");
  const Indices stops = indices(args, 16);
  const int32_t* seed = args.array<int32_t>(11, int64_t{2});
  Generation<float> request{};
  request.seed = static_cast<uint64_t>(static_cast<uint32_t>(seed[1])) << 32 | static_cast<uint32_t>(seed[0]);
  request.rule = {args.number(12), args.integer(13), args.number(14), args.number(15)};
  request.rows = rows;
  request.maxTokens = extent(args, 17);
  request.batch = extent(args, 18);
  request.head = headWeight(args, 6, shape);
  request.tokens = args.array<int32_t>(19, rows * request.maxTokens);
  request.logProbs = args.array<float>(20, rows * request.maxTokens);
  request.lengths = shared(args.array<int32_t>(21, rows));
  request.stopped = args.array<uint8_t>(22, rows);
  request.ended = shared(args.optionalArray<uint8_t>(23, rows));
  return PromiseWorkers::start(info, [=](const CancelFlag& cancelled) {
    Generation<float> whole = request;
    whole.prompts = prompts.rows();
    whole.ids = prompts.ids();
    whole.promptOf = promptOf->data();
    whole.sampleOf = sampleOf->data();
    whole.stops = stops->data();
    whole.stopCount = static_cast<int64_t>(stops->size());
    return engine->generate(*parameters, whole, cancelled);
  });
}

}  // namespace

void registerModel(Napi::Env env, Napi::Object exports) {
  Family(env, exports, "model")
      .add("create", create)
      .add("bytes", bytes)
      .add("forward", forward)
      .add("backward", backward)
      .add("logProbs", logProbs)
      .add("logProbsBackward", logProbsBackward)
      .add("readout", readout)
      .add("readoutBackward", readoutBackward)
      .add("generate", generate);
}

}  // namespace minform
