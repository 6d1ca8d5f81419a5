#include "memory.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "fault.h"

namespace simt {
namespace {

size_t fromEnvironment(const char* name, size_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : static_cast<size_t>(std::strtoull(value, nullptr, 10));
}

// For tests of what is built on the device: MINFORM_SIMT_MEMORY is its size in bytes, MINFORM_SIMT_LOST_AFTER the
// number of allocations and copies before it is lost.
struct Device {
  std::mutex mutex;
  std::map<uintptr_t, std::unique_ptr<Allocation>> live;
  size_t capacity = fromEnvironment("MINFORM_SIMT_MEMORY", size_t{8} << 30), inUse = 0, peak = 0;
  size_t operationsLeft = fromEnvironment("MINFORM_SIMT_LOST_AFTER", SIZE_MAX);
};

// Never destroyed: threads may still use it when the process exits.
Device& device() {
  static Device* const only = new Device;
  return *only;
}

std::string range(const Allocation& in, uintptr_t at, size_t count) {
  return std::to_string(count) + " bytes at offset " + std::to_string(static_cast<int64_t>(at - in.base)) +
         " of an allocation of " + std::to_string(in.bytes);
}

}  // namespace

void Allocation::failOutside(uintptr_t at, size_t count) const {
  throw Fault(FaultKind::outOfBounds, range(*this, at, count));
}

void Allocation::failUnwritten(uintptr_t at, size_t count) const {
  throw Fault(FaultKind::uninitialisedRead, range(*this, at, count) + " read before they were written");
}

Allocation& allocationOf(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  Device& on = device();
  const std::lock_guard<std::mutex> lock(on.mutex);
  auto next = on.live.upper_bound(at);
  if (next != on.live.begin()) {
    Allocation& found = *std::prev(next)->second;
    if (at <= found.base + found.bytes) return found;
  }
  throw Fault(FaultKind::unknownMemory, "the address is in no live device allocation");
}

void useDevice() {
  const std::lock_guard<std::mutex> lock(device().mutex);
  if (device().operationsLeft == 0) {
    throw minform::cuda::Failure(minform::cuda::Status::deviceLost, "the emulated device is lost");
  }
  device().operationsLeft--;
}

void setCapacity(size_t bytes) {
  const std::lock_guard<std::mutex> lock(device().mutex);
  device().capacity = bytes;
}

}  // namespace simt

namespace minform::cuda {

using simt::device;

MemoryStats memoryStats() {
  const std::lock_guard<std::mutex> lock(device().mutex);
  return {device().inUse, device().peak, device().inUse};
}

void resetPeak() {
  const std::lock_guard<std::mutex> lock(device().mutex);
  device().peak = device().inUse;
}

void trimPool() {}

void* allocate(size_t bytes, Stream) {
  if (bytes == 0) return nullptr;
  simt::useDevice();
  simt::Device& on = device();
  const std::lock_guard<std::mutex> lock(on.mutex);
  const size_t rounded = (bytes + 255) / 256 * 256;
  void* data = on.inUse + bytes > on.capacity ? nullptr : std::aligned_alloc(256, rounded);
  if (data == nullptr) throw Failure(Status::outOfMemory, "the emulated device is out of memory");
  std::memset(data, 0xAB, rounded);
  const auto base = reinterpret_cast<uintptr_t>(data);
  on.live[base] = std::make_unique<simt::Allocation>(simt::Allocation{base, bytes, std::vector<uint8_t>(bytes)});
  on.inUse += bytes;
  if (on.inUse > on.peak) on.peak = on.inUse;
  return data;
}

void release(void* data, Stream) noexcept {
  if (data == nullptr) return;
  simt::Device& on = device();
  const std::lock_guard<std::mutex> lock(on.mutex);
  const auto found = on.live.find(reinterpret_cast<uintptr_t>(data));
  if (found == on.live.end()) return;
  on.inUse -= found->second->bytes;
  on.live.erase(found);
  std::free(data);
}

}  // namespace minform::cuda
