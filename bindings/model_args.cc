#include "model_args.h"

#include <stdexcept>

namespace minform {

namespace {

constexpr int64_t kGlobalTensors = 2, kLayerTensors = 12, kAdapterNumbers = 5, kAdapterTensors = 4;

// The arrays of a JavaScript array, each of a known length or null.
class TensorList {
 public:
  TensorList(const Args& args, size_t index, int64_t count) : args_(args), index_(index) {
    if (args.isMissing(index)) return;
    array_ = args.list(index);
    if (static_cast<int64_t>(array_.Length()) != count) args.fail(index, "has the wrong length");
  }

  float* optional(int64_t at, int64_t length) const {
    if (array_.IsEmpty()) return nullptr;
    const Napi::Value value = array_[static_cast<uint32_t>(at)];
    if (value.IsNull() || value.IsUndefined()) return nullptr;
    napi_typedarray_type kind;
    size_t found = 0;
    void* memory = nullptr;
    if (!value.IsTypedArray() ||
        napi_get_typedarray_info(args_.env(), value, &kind, &found, &memory, nullptr, nullptr) != napi_ok ||
        kind != napi_float32_array || found != static_cast<size_t>(length)) {
      args_.fail(index_, ("holds an array of another kind or length at " + std::to_string(at)).c_str());
    }
    return static_cast<float*>(memory);
  }

  float* required(int64_t at, int64_t length) const {
    float* data = optional(at, length);
    if (data == nullptr) args_.fail(index_, ("lacks an array at " + std::to_string(at)).c_str());
    return data;
  }

 private:
  const Args& args_;
  size_t index_;
  Napi::Array array_;
};

struct Reader {
  TensorList tensors, gradients;

  Norm<float> norm(int64_t at, int64_t width) const {
    return {tensors.required(at, width), gradients.optional(at, width)};
  }
  Projection<float> projection(int64_t at, int64_t outputs, int64_t inputs) const {
    Projection<float> p;
    p.weight = {tensors.required(at, outputs * inputs), outputs, inputs, nullptr};
    p.gradWeight = gradients.optional(at, outputs * inputs);
    p.bias = tensors.optional(at + 1, outputs);
    if (p.bias != nullptr) p.gradBias = gradients.optional(at + 1, outputs);
    return p;
  }
  LayerParameters<float> layer(int64_t at, const ModelShape& shape) const {
    const HeadShape& heads = shape.heads;
    LayerParameters<float> layer;
    layer.attentionNorm = norm(at, shape.hidden);
    layer.qkv = projection(at + 1, heads.width(), shape.hidden);
    layer.output = projection(at + 3, shape.hidden, heads.queries());
    if (shape.headNorms) {
      layer.queryNorm = norm(at + 5, heads.headDim);
      layer.keyNorm = norm(at + 6, heads.headDim);
    }
    layer.mlpNorm = norm(at + 7, shape.hidden);
    layer.gateUp = projection(at + 8, 2 * shape.inner, shape.hidden);
    layer.down = projection(at + 10, shape.hidden, shape.inner);
    return layer;
  }
};

void addAdapters(const Args& args, size_t index, Parameters<float>& parameters) {
  int64_t numbers = 0;
  const int32_t* meta = args.array<int32_t>(index, &numbers);
  const int64_t count = numbers / kAdapterNumbers;
  const double* scales = args.array<double>(index + 1, count);
  const TensorList tensors(args, index + 2, count * kAdapterTensors);
  for (int64_t i = 0; i < count; i++) {
    const int32_t* m = meta + i * kAdapterNumbers;
    if (m[0] < 0 || m[0] >= static_cast<int64_t>(parameters.layers.size()) || m[1] < 0 || m[1] > 3)
      args.fail(index, "names no projection");
    LayerParameters<float>& layer = parameters.layers[static_cast<size_t>(m[0])];
    Projection<float>* projections[] = {&layer.qkv, &layer.output, &layer.gateUp, &layer.down};
    Projection<float>& projection = *projections[m[1]];
    Adapter<float> adapter{m[2], m[3], m[4], scales[i], nullptr, nullptr, nullptr, nullptr};
    if (m[2] < 0 || m[3] < 1 || m[4] < 1 || adapter.firstOutput + adapter.outputs > projection.weight.outputs)
      args.fail(index, "holds an adapter that does not fit");
    const int64_t down = adapter.rank * projection.weight.inputs, up = adapter.outputs * adapter.rank;
    adapter.down = tensors.required(i * kAdapterTensors, down);
    adapter.up = tensors.required(i * kAdapterTensors + 1, up);
    adapter.gradDown = tensors.optional(i * kAdapterTensors + 2, down);
    adapter.gradUp = tensors.optional(i * kAdapterTensors + 3, up);
    projection.adapters.push_back(adapter);
  }
}

}  // namespace

EngineHandle engineOf(const Args& args, size_t index) { return *args.external<EngineHandle>(index); }

int64_t extent(const Args& args, size_t index) {
  const double value = args.number(index);
  if (!(value >= 1 && value <= INT32_MAX)) args.fail(index, "is no extent");
  return static_cast<int64_t>(value);
}

Indices indices(const Args& args, size_t index, int64_t end) {
  int64_t count = 0;
  const int32_t* given = args.array<int32_t>(index, &count);
  auto list = std::make_shared<const std::vector<int32_t>>(given, given + count);
  for (const int32_t value : *list) {
    if (value < 0 || value >= end) args.fail(index, "holds an index outside its range");
  }
  return list;
}

Sequences::Sequences(const Args& args, size_t index, int64_t vocabulary) : ids_(indices(args, index, vocabulary)) {
  const Rows rows = args.rows(index + 1, static_cast<int64_t>(ids_->size()));
  offsets_ = std::make_shared<const std::vector<int32_t>>(rows.offsets, rows.offsets + rows.count + 1);
}

Parameters<float> parametersOf(const Args& args, size_t index, const ModelShape& shape) {
  const auto layers = static_cast<int64_t>(shape.windows.size());
  const int64_t count = kGlobalTensors + layers * kLayerTensors, table = shape.vocabulary * shape.hidden;
  const Reader reader{TensorList(args, index, count), TensorList(args, index + 1, count)};
  Parameters<float> parameters{};
  parameters.embedding = reader.tensors.required(0, table);
  parameters.gradEmbedding = reader.gradients.optional(0, table);
  parameters.norm = reader.norm(1, shape.hidden);
  for (int64_t i = 0; i < layers; i++)
    parameters.layers.push_back(reader.layer(kGlobalTensors + i * kLayerTensors, shape));
  addAdapters(args, index + 2, parameters);
  return parameters;
}

ReadoutHead<float> readoutHead(const Args& args, size_t index, const ModelShape& shape) {
  const bool two = !args.isMissing(index + 2);
  const int64_t outputs = extent(args, index + 9), inner = two ? extent(args, index + 8) : outputs;
  const auto layer = [&](size_t at, int64_t out, int64_t in) {
    Projection<float> p;
    p.weight = {args.array<float>(at, out * in), out, in, nullptr};
    p.bias = args.optionalArray<float>(at + 1, out);
    p.gradWeight = args.optionalArray<float>(at + 4, out * in);
    p.gradBias = args.optionalArray<float>(at + 5, out);
    return p;
  };
  ReadoutHead<float> head;
  head.first = layer(index, inner, shape.hidden);
  head.second.weight.data = nullptr;
  if (two) head.second = layer(index + 2, outputs, inner);
  return head;
}

void requireReads(const Engine<float>& engine, const std::vector<int32_t>& reads) {
  for (const int32_t read : reads) {
    if (read >= engine.tokens()) throw std::runtime_error("a read lies outside the batch of the pass");
  }
}

void requireGradient(const Engine<float>& engine) {
  if (!engine.canGoBack()) throw std::runtime_error("the pass has ended or kept no activations");
}

}  // namespace minform
