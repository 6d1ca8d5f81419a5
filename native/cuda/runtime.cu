// minform/cuda/runtime.h on the CUDA runtime. The driver is opened by the first call, not when the addon is loaded.
#include "minform/cuda/runtime.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "launch.h"
#include "minform/device.h"

namespace minform {

CudaInfo cudaInfo() {
  CudaInfo info{true, 0, ""};
  const cudaError_t error = cudaGetDeviceCount(&info.deviceCount);
  if (error != cudaSuccess) {
    info.deviceCount = 0;
    std::snprintf(info.reason, sizeof info.reason, "%s: %s", cudaGetErrorName(error), cudaGetErrorString(error));
    cudaGetLastError();  // the error is sticky per thread until read
  }
  return info;
}

namespace cuda {
namespace {

Status statusOf(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return Status::outOfMemory;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorSystemNotReady:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorStubLibrary:
      return Status::noDevice;
    case cudaErrorInvalidConfiguration:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorNoKernelImageForDevice:
      return Status::invalidLaunch;
    // The context is gone: every later call of the process fails with the same error.
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorMisalignedAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorDevicesUnavailable:
      return Status::deviceLost;
    default:
      return Status::failed;
  }
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // the error is sticky per thread until read
  throw Failure(statusOf(error), std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error));
}

int attribute(cudaDeviceAttr which) {
  int value = 0, device = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

// The device's default pool, told to keep what is freed: taking memory back from the driver costs milliseconds.
cudaMemPool_t pool() {
  static const cudaMemPool_t kept = [] {
    int device = 0;
    cudaMemPool_t found;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetDefaultMemPool(&found, device));
    uint64_t threshold = UINT64_MAX;
    check(cudaMemPoolSetAttribute(found, cudaMemPoolAttrReleaseThreshold, &threshold));
    return found;
  }();
  return kept;
}

size_t poolBytes(cudaMemPoolAttr which) {
  uint64_t value = 0;
  check(cudaMemPoolGetAttribute(pool(), which, &value));
  return static_cast<size_t>(value);
}

// Two halves of pinned memory: one is filled or emptied by the host while the other is in flight. Shared by all
// streams, one copy at a time.
class Staging {
 public:
  static Staging& get() {
    // Never destroyed: the driver may be gone by the time statics are.
    static Staging* const only = new Staging;
    return *only;
  }

  void copy(void* device, void* host, size_t bytes, bool up, Stream stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    prepare();
    size_t pending = 0, pendingAt = 0;  // of a download: what the other half will hold
    int half = 0;
    for (size_t at = 0; at < bytes; at += kHalf, half ^= 1) {
      const size_t count = std::min(kHalf, bytes - at);
      check(cudaEventSynchronize(done_[half]));
      if (up) {
        std::memcpy(halves_[half], static_cast<char*>(host) + at, count);
        check(cudaMemcpyAsync(static_cast<char*>(device) + at, halves_[half], count, cudaMemcpyHostToDevice, stream));
      } else {
        check(cudaMemcpyAsync(halves_[half], static_cast<char*>(device) + at, count, cudaMemcpyDeviceToHost, stream));
      }
      check(cudaEventRecord(done_[half], stream));
      if (!up && pending > 0) empty(half ^ 1, static_cast<char*>(host) + pendingAt, pending);
      pending = count;
      pendingAt = at;
    }
    if (!up && pending > 0) empty(half ^ 1, static_cast<char*>(host) + pendingAt, pending);
  }

 private:
  static constexpr size_t kHalf = size_t{4} << 20;

  void prepare() {
    if (halves_[1] != nullptr) return;
    for (int half = 0; half < 2; half++) {
      if (done_[half] == nullptr) check(cudaEventCreateWithFlags(&done_[half], cudaEventDisableTiming));
      if (halves_[half] == nullptr) check(cudaMallocHost(&halves_[half], kHalf));
    }
  }

  void empty(int half, void* host, size_t count) {
    check(cudaEventSynchronize(done_[half]));
    std::memcpy(host, halves_[half], count);
  }

  std::mutex mutex_;
  void* halves_[2] = {};
  cudaEvent_t done_[2] = {};
};

}  // namespace

void checkLaunch(cudaError_t error) { check(error); }

DeviceLimits limits() {
  static const DeviceLimits found = [] {
    size_t available = 0, total = 0;
    check(cudaMemGetInfo(&available, &total));
    return DeviceLimits{attribute(cudaDevAttrComputeCapabilityMajor),
                        attribute(cudaDevAttrComputeCapabilityMinor),
                        attribute(cudaDevAttrMultiProcessorCount),
                        total,
                        static_cast<size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)),
                        static_cast<size_t>(attribute(cudaDevAttrL2CacheSize))};
  }();
  return found;
}

MemoryStats memoryStats() {
  return {poolBytes(cudaMemPoolAttrUsedMemCurrent), poolBytes(cudaMemPoolAttrUsedMemHigh),
          poolBytes(cudaMemPoolAttrReservedMemCurrent)};
}

void resetPeak() {
  uint64_t zero = 0;
  check(cudaMemPoolSetAttribute(pool(), cudaMemPoolAttrUsedMemHigh, &zero));
}

void trimPool() { check(cudaMemPoolTrimTo(pool(), 0)); }

void* allocate(size_t bytes, Stream stream) {
  if (bytes == 0) return nullptr;
  void* data = nullptr;
  check(cudaMallocFromPoolAsync(&data, bytes, pool(), stream));
  return data;
}

void release(void* data, Stream stream) noexcept {
  if (data == nullptr) return;
  cudaFreeAsync(data, stream);
  cudaGetLastError();
}

void copyToDevice(void* device, const void* host, size_t bytes, Stream stream) {
  Staging::get().copy(device, const_cast<void*>(host), bytes, true, stream);
}

void copyToHost(void* host, const void* device, size_t bytes, Stream stream) {
  Staging::get().copy(const_cast<void*>(device), host, bytes, false, stream);
}

void copyOnDevice(void* to, const void* from, size_t bytes, Stream stream) {
  if (bytes > 0) check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
}

void fillBytes(void* device, uint8_t value, size_t bytes, Stream stream) {
  if (bytes > 0) check(cudaMemsetAsync(device, value, bytes, stream));
}

Stream createStream() {
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

void destroyStream(Stream stream) noexcept {
  cudaStreamDestroy(stream);
  cudaGetLastError();
}

void synchronize(Stream stream) { check(cudaStreamSynchronize(stream)); }

Event createEvent() {
  cudaEvent_t event;
  check(cudaEventCreate(&event));
  return event;
}

void destroyEvent(Event event) noexcept {
  cudaEventDestroy(event);
  cudaGetLastError();
}

void record(Event event, Stream stream) { check(cudaEventRecord(event, stream)); }
void wait(Stream stream, Event event) { check(cudaStreamWaitEvent(stream, event, 0)); }

float elapsedMilliseconds(Event from, Event to) {
  float milliseconds = 0;
  check(cudaEventSynchronize(to));
  check(cudaEventElapsedTime(&milliseconds, from, to));
  return milliseconds;
}

}  // namespace cuda
}  // namespace minform
