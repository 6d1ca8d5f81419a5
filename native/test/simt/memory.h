// Device memory of the emulator: every allocation is registered and knows which of its bytes were written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt {

struct Allocation {
  uintptr_t base;
  size_t bytes;
  std::vector<uint8_t> written;  // one flag per byte

  // Throw Fault unless [at, at + count) lies inside, and for reads was written.
  void checkRead(uintptr_t at, size_t count) const {
    checkInside(at, count);
    for (size_t i = 0; i < count; i++) {
      if (written[at - base + i] == 0) failUnwritten(at, count);
    }
  }
  void markWritten(uintptr_t at, size_t count) {
    checkInside(at, count);
    for (size_t i = 0; i < count; i++) written[at - base + i] = 1;
  }

 private:
  void checkInside(uintptr_t at, size_t count) const {
    if (at < base || at - base + count > bytes) failOutside(at, count);
  }
  [[noreturn]] void failOutside(uintptr_t at, size_t count) const;
  [[noreturn]] void failUnwritten(uintptr_t at, size_t count) const;
};

// The live allocation that holds this address (one past its end included); throws Fault when there is none.
Allocation& allocationOf(const void* address);

// Counts an operation of the device; throws Failure once it is lost.
void useDevice();

// Bytes that the emulated device has; allocations beyond it are out of memory.
void setCapacity(size_t bytes);

}  // namespace simt
