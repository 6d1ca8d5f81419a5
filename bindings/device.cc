// Memory, copies and streams of the device.
#include "minform/device.h"

#include <cstring>

#include "addon.h"
#include "args.h"
#include "promise_worker.h"

namespace minform {

namespace {

size_t bytesPer(const Args& args, size_t index, int32_t kind) {
  switch (kind) {
    case napi_uint8_array:
      return 1;
    case napi_uint16_array:
      return 2;
    case napi_int32_array:
    case napi_float32_array:
      return 4;
    case napi_float64_array:
    case napi_bigint64_array:
      return 8;
    default:
      args.fail(index, "is no kind of array that the device holds");
  }
}

StreamPointer streamAt(const Napi::CallbackInfo& info, size_t index) {
  const StreamPointer* stream = deviceStream(info[index]);
  if (stream == nullptr) Args(info).fail(index, "is no stream");
  return *stream;
}

DeviceArray& arrayAt(const Napi::CallbackInfo& info, size_t index) {
  DeviceArray* array = deviceArray(info[index]);
  if (array == nullptr) Args(info).fail(index, "is not on the device");
  if (array->memory == nullptr) Args(info).fail(index, "was disposed of");
  return *array;
}

// A typed array of any kind that the device holds.
struct HostArray {
  napi_typedarray_type kind;
  int64_t length;
  size_t bytes;
  void* data;

  HostArray(const Napi::CallbackInfo& info, size_t index) {
    size_t count = 0;
    if (!info[index].IsTypedArray() ||
        napi_get_typedarray_info(info.Env(), info[index], &kind, &count, &data, nullptr, nullptr) != napi_ok) {
      Args(info).fail(index, "is not a typed array");
    }
    length = static_cast<int64_t>(count);
    bytes = count * bytesPer(Args(info), index, kind);
  }
};

// () -> job: makes the device ready, which takes a while.
Napi::Value open(const Napi::CallbackInfo& info) {
  return PromiseWorkers::start(
      info,
      [](const CancelFlag&) {
        const CudaInfo found = cudaInfo();
        if (found.deviceCount == 0) throw cuda::Failure(cuda::Status::noDevice, found.reason);
        cuda::limits();
        return kOk;
      },
      Lane::device);
}

// () -> what limits() says
Napi::Value limits(const Napi::CallbackInfo& info) {
  const cuda::DeviceLimits found = onDevice(info.Env(), cuda::limits);
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("major", found.major);
  result.Set("minor", found.minor);
  result.Set("multiprocessors", found.multiprocessors);
  result.Set("totalBytes", static_cast<double>(found.totalBytes));
  return result;
}

// () -> stream
Napi::Value createStream(const Napi::CallbackInfo& info) {
  return onDevice(info.Env(), [&] { return wrap(info.Env(), std::make_shared<DeviceStream>()); });
}

// (stream, kind, length) -> array; its content is undefined
Napi::Value allocate(const Napi::CallbackInfo& info) {
  const Args args(info);
  const int32_t kind = args.integer(1);
  const double length = args.number(2);
  if (!(length >= 0 && length <= 9007199254740991.0 / 8)) args.fail(2, "is no length");
  const StreamPointer stream = streamAt(info, 0);
  return onDevice(info.Env(), [&] {
    const size_t bytes = static_cast<size_t>(length) * bytesPer(args, 1, kind);
    return wrap(info.Env(), {static_cast<napi_typedarray_type>(kind), static_cast<int64_t>(length),
                             std::make_shared<DeviceMemory>(stream, bytes)});
  });
}

DeviceArray uploaded(const StreamPointer& stream, const HostArray& from) {
  DeviceArray array{from.kind, from.length, std::make_shared<DeviceMemory>(stream, from.bytes)};
  cuda::copyToDevice(array.memory->data, from.data, from.bytes, stream->stream);
  return array;
}

// (stream, typed array) -> array
Napi::Value upload(const Napi::CallbackInfo& info) {
  const StreamPointer stream = streamAt(info, 0);
  const HostArray from(info, 1);
  return onDevice(info.Env(), [&] { return wrap(info.Env(), uploaded(stream, from)); });
}

// (known array?, stream, typed array) -> an array whose content the glue knows: the one given if it is still the same
Napi::Value uploadKnown(const Napi::CallbackInfo& info) {
  const StreamPointer stream = streamAt(info, 1);
  const HostArray from(info, 2);
  if (const DeviceArray* before = deviceArray(info[0]); before != nullptr && before->memory != nullptr) {
    const std::vector<uint8_t>& content = before->memory->content;
    const bool same = before->kind == from.kind && content.size() == from.bytes &&
                      (from.bytes == 0 || std::memcmp(content.data(), from.data, from.bytes) == 0);
    if (same) return info[0];
  }
  return onDevice(info.Env(), [&] {
    const auto* bytes = static_cast<const uint8_t*>(from.data);
    std::vector<uint8_t> content(bytes, bytes + from.bytes);
    DeviceArray array = uploaded(stream, from);
    array.memory->content = std::move(content);
    return wrap(info.Env(), std::move(array));
  });
}

// (array, first, typed array): the part of `array` from element `first` on that a typed array is to be filled with
struct Download {
  MemoryPointer memory;
  const char* from;
  HostArray to;

  explicit Download(const Napi::CallbackInfo& info) : to(info, 2) {
    const Args args(info);
    const DeviceArray& array = arrayAt(info, 0);
    const double first = args.number(1);
    if (array.kind != to.kind) args.fail(2, "is a typed array of another kind");
    if (!(first >= 0 && first + static_cast<double>(to.length) <= static_cast<double>(array.length))) {
      args.fail(1, "leaves the array");
    }
    memory = array.memory;
    if (to.length > 0) {
      from = static_cast<const char*>(memory->data) + static_cast<size_t>(first) * (to.bytes / to.length);
    }
  }

  void copy() const { cuda::copyToHost(to.data, from, to.bytes, memory->stream->stream); }
};

// (array, first, typed array)
Napi::Value read(const Napi::CallbackInfo& info) {
  const Download download(info);
  return onDevice(info.Env(), [&]() -> Napi::Value {
    download.copy();
    return info.Env().Undefined();
  });
}

// The same as a job. What is put on the stream later and writes the array waits for it.
Napi::Value download(const Napi::CallbackInfo& info) {
  const Download download(info);
  struct Reading {
    MemoryPointer memory;
    explicit Reading(MemoryPointer of) : memory(std::move(of)) { memory->beginRead(); }
    ~Reading() { memory->endRead(); }
  };
  // Shared with the job, hence over when the job is, however it ends.
  const auto reading = std::make_shared<Reading>(download.memory);
  return PromiseWorkers::start(
      info,
      [download, reading](const CancelFlag&) {
        download.copy();
        return kOk;
      },
      Lane::device);
}

// (array, byte): every byte becomes it
Napi::Value fill(const Napi::CallbackInfo& info) {
  const MemoryPointer memory = arrayAt(info, 0).memory;
  const auto byte = static_cast<uint8_t>(Args(info).integer(1));
  return onDevice(info.Env(), [&]() -> Napi::Value {
    memory->waitForReaders();
    cuda::fillBytes(memory->data, byte, memory->bytes, memory->stream->stream);
    return info.Env().Undefined();
  });
}

// (array)
Napi::Value disposeArray(const Napi::CallbackInfo& info) {
  if (DeviceArray* array = deviceArray(info[0])) dispose(info.Env(), array);
  return info.Env().Undefined();
}

// (stream) -> job
Napi::Value synchronize(const Napi::CallbackInfo& info) {
  return PromiseWorkers::start(
      info,
      [stream = streamAt(info, 0)](const CancelFlag&) {
        cuda::synchronize(stream->stream);
        return kOk;
      },
      Lane::device);
}

// () -> { inUse, peak, reserved }
Napi::Value memory(const Napi::CallbackInfo& info) {
  const cuda::MemoryStats stats = onDevice(info.Env(), cuda::memoryStats);
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("inUse", static_cast<double>(stats.inUse));
  result.Set("peak", static_cast<double>(stats.peak));
  result.Set("reserved", static_cast<double>(stats.reserved));
  return result;
}

Napi::Value resetPeak(const Napi::CallbackInfo& info) {
  onDevice(info.Env(), cuda::resetPeak);
  return info.Env().Undefined();
}

Napi::Value trim(const Napi::CallbackInfo& info) {
  onDevice(info.Env(), cuda::trimPool);
  return info.Env().Undefined();
}

}  // namespace

void registerDevice(Napi::Env env, Napi::Object exports) {
  Family(env, exports, "device")
      .add("open", open)
      .add("limits", limits)
      .add("createStream", createStream)
      .add("allocate", allocate)
      .add("upload", upload)
      .add("uploadKnown", uploadKnown)
      .add("read", read)
      .add("download", download)
      .add("fill", fill)
      .add("dispose", disposeArray)
      .add("synchronize", synchronize)
      .add("memory", memory)
      .add("resetPeak", resetPeak)
      .add("trim", trim);
}

}  // namespace minform
