// minform/device.h and minform/cuda/runtime.h of a build without a backend: there is no device, and nothing that needs
// one gets past limits() or createStream().
#include "minform/device.h"

#include "minform/cuda/runtime.h"

namespace minform {

namespace {

constexpr const char* kReason = "this build has no CUDA backend";

[[noreturn]] void refuse() { throw cuda::Failure(cuda::Status::noDevice, kReason); }

}  // namespace

CudaInfo cudaInfo() {
  CudaInfo info{false, 0, ""};
  for (size_t i = 0; kReason[i] != 0; i++) info.reason[i] = kReason[i];
  return info;
}

namespace cuda {

DeviceLimits limits() { refuse(); }
MemoryStats memoryStats() { refuse(); }
void resetPeak() { refuse(); }
void trimPool() { refuse(); }
void* allocate(size_t, Stream) { refuse(); }
void release(void*, Stream) noexcept {}
void copyToDevice(void*, const void*, size_t, Stream) { refuse(); }
void copyToHost(void*, const void*, size_t, Stream) { refuse(); }
void fillBytes(void*, uint8_t, size_t, Stream) { refuse(); }
Stream createStream() { refuse(); }
void destroyStream(Stream) noexcept {}
void synchronize(Stream) { refuse(); }
Event createEvent() { refuse(); }
void destroyEvent(Event) noexcept {}
void record(Event, Stream) { refuse(); }
void wait(Stream, Event) { refuse(); }

}  // namespace cuda
}  // namespace minform
