// The device below every CUDA kernel family: memory, copies, streams, events. One header, two implementations: the CUDA
// runtime (native/cuda/runtime.cu) and the SIMT emulator, whose device is the host's memory (native/test/simt).
//
// Memory is stream-ordered: what is allocated on a stream may be used on it at once, and on others after an event.
// Everything that fails throws Failure; the process and, unless the device is lost, the device stay usable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

struct CUstream_st;
struct CUevent_st;

namespace minform::cuda {

using Stream = CUstream_st*;  // a cudaStream_t; null is the default stream
using Event = CUevent_st*;

enum class Status : int32_t { noDevice = 1, outOfMemory = 2, invalidLaunch = 3, deviceLost = 4, failed = 5 };

// what() is the driver's reason.
class Failure : public std::runtime_error {
 public:
  Failure(Status status, const std::string& reason) : std::runtime_error(reason), status(status) {}
  const Status status;
};

struct DeviceLimits {
  int major, minor;  // compute capability
  int multiprocessors;
  size_t totalBytes;
  size_t sharedBytesPerBlock;  // dynamic shared memory that a kernel may ask for
  size_t cacheBytes;           // level 2
};
DeviceLimits limits();

struct MemoryStats {
  size_t inUse, peak;  // bytes that callers hold
  size_t reserved;     // bytes that the pool holds of the device's memory
};
MemoryStats memoryStats();
void resetPeak();
void trimPool();  // returns unused memory of the pool to the device

// Aligned to 256 bytes; the content is undefined. Zero bytes give null.
void* allocate(size_t bytes, Stream stream);
void release(void* data, Stream stream) noexcept;

// Host copies go through pinned staging memory. The host side is free to be reused on return.
void copyToDevice(void* device, const void* host, size_t bytes, Stream stream);
void copyToHost(void* host, const void* device, size_t bytes, Stream stream);
void copyOnDevice(void* to, const void* from, size_t bytes, Stream stream);
void fillBytes(void* device, uint8_t value, size_t bytes, Stream stream);

Stream createStream();
void destroyStream(Stream stream) noexcept;
void synchronize(Stream stream);

Event createEvent();
void destroyEvent(Event event) noexcept;
void record(Event event, Stream stream);
void wait(Stream stream, Event event);
float elapsedMilliseconds(Event from, Event to);  // waits for `to`

// Scratch memory of one call.
template <class T>
class Buffer {
 public:
  Buffer(int64_t count, Stream stream)
      : data_(static_cast<T*>(allocate(static_cast<size_t>(count) * sizeof(T), stream))), stream_(stream) {}
  ~Buffer() { release(data_, stream_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* get() const { return data_; }

 private:
  T* data_;
  Stream stream_;
};

// Where a call reports the first bad element: a word on the device, kOk or the lowest flat index. Reading it waits for
// the stream, so a chain of calls shares one and reads it at its end.
void resetStatus(int64_t* status, Stream stream);
int64_t readStatus(const int64_t* status, Stream stream);
// Keeps the lower index of two.
void mergeStatus(int64_t* into, const int64_t* other, Stream stream);

}  // namespace minform::cuda
