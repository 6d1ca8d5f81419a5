// Device memory as JavaScript holds it: an opaque value that releases the memory when it is disposed of or collected.
// What still uses the memory (a download under way) keeps it until it is done.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "minform/cuda/runtime.h"
#include "napi_setup.h"

namespace minform {

// Destroyed with the last array on it.
struct DeviceStream {
  const cuda::Stream stream = cuda::createStream();
  DeviceStream() = default;
  DeviceStream(const DeviceStream&) = delete;
  ~DeviceStream() { cuda::destroyStream(stream); }
};
using StreamPointer = std::shared_ptr<DeviceStream>;

class DeviceMemory {
 public:
  // Memory also for an empty array: kernels take a null pointer for an array left out.
  DeviceMemory(StreamPointer on, size_t size)
      : stream(std::move(on)), bytes(size), data(cuda::allocate(size == 0 ? 1 : size, stream->stream)) {}
  DeviceMemory(const DeviceMemory&) = delete;
  ~DeviceMemory() { cuda::release(data, stream->stream); }

  // Downloads run on another thread, later than they were asked for; whoever writes waits for them.
  void beginRead();
  void endRead();
  void waitForReaders();

  const StreamPointer stream;
  const size_t bytes;
  void* const data;
  // The content, of an array that never changes and was copied from the host; else empty.
  std::vector<uint8_t> content;

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  int readers_ = 0;
};
using MemoryPointer = std::shared_ptr<DeviceMemory>;

struct DeviceArray {
  napi_typedarray_type kind;
  int64_t length;
  MemoryPointer memory;  // null once disposed of
};

// New values for JavaScript, and what is behind one: null when it is something else.
Napi::Value wrap(Napi::Env env, DeviceArray array);
Napi::Value wrap(Napi::Env env, StreamPointer stream);
DeviceArray* deviceArray(Napi::Value value);
StreamPointer* deviceStream(Napi::Value value);
// Lets go of the memory; harmless when that has been done.
void dispose(Napi::Env env, DeviceArray* array);

// Work that is put on `later` from now on waits for what is on `earlier`.
void orderAfter(cuda::Stream later, cuda::Stream earlier);

// An error whose `cudaStatus` tells lib/ what kind it is.
Napi::Error deviceError(Napi::Env env, cuda::Status status, const std::string& reason);

// Runs body; what the device refuses becomes a deviceError.
template <class Body>
auto onDevice(Napi::Env env, Body body) {
  try {
    return body();
  } catch (const cuda::Failure& failure) {
    throw deviceError(env, failure.status, failure.what());
  }
}

}  // namespace minform
