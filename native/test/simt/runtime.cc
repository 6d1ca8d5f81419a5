// minform/cuda/runtime.h on the emulator: one device, work is done when the call returns.
#include "minform/cuda/runtime.h"

#include <chrono>
#include <cstring>

#include "block.h"
#include "memory.h"
#include "minform/device.h"

struct CUstream_st {};
struct CUevent_st {
  std::chrono::steady_clock::time_point at;
};

namespace minform {

CudaInfo cudaInfo() { return {true, 1, ""}; }

namespace cuda {
namespace {

uintptr_t address(const void* data) { return reinterpret_cast<uintptr_t>(data); }

}  // namespace

DeviceLimits limits() { return {8, 6, 4, size_t{8} << 30, simt::kDynamicSharedLimit, size_t{1} << 20}; }

void copyToDevice(void* device, const void* host, size_t bytes, Stream) {
  if (bytes == 0) return;
  simt::useDevice();
  simt::allocationOf(device).markWritten(address(device), bytes);
  std::memcpy(device, host, bytes);
}

void copyToHost(void* host, const void* device, size_t bytes, Stream) {
  if (bytes == 0) return;
  simt::useDevice();
  simt::allocationOf(device).checkRead(address(device), bytes);
  std::memcpy(host, device, bytes);
}

void copyOnDevice(void* to, const void* from, size_t bytes, Stream) {
  if (bytes == 0) return;
  simt::useDevice();
  simt::allocationOf(from).checkRead(address(from), bytes);
  simt::allocationOf(to).markWritten(address(to), bytes);
  std::memmove(to, from, bytes);
}

void fillBytes(void* device, uint8_t value, size_t bytes, Stream) {
  if (bytes == 0) return;
  simt::allocationOf(device).markWritten(address(device), bytes);
  std::memset(device, value, bytes);
}

Stream createStream() { return new CUstream_st; }
void destroyStream(Stream stream) noexcept { delete stream; }
void synchronize(Stream) { simt::useDevice(); }

Event createEvent() { return new CUevent_st{}; }
void destroyEvent(Event event) noexcept { delete event; }
void record(Event event, Stream) { event->at = std::chrono::steady_clock::now(); }
void wait(Stream, Event) {}
float elapsedMilliseconds(Event from, Event to) {
  return std::chrono::duration<float, std::milli>(to->at - from->at).count();
}

}  // namespace cuda
}  // namespace minform
