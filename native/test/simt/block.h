// Runs a kernel block by block: the threads of a block are fibres that take turns and stop at barriers and warp
// operations. What a block's threads share (shared memory, epochs for the race check) lives here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "fault.h"
#include "fiber.h"

namespace simt {

struct Index3 {
  unsigned x, y, z;
};

struct Site {
  const char* file;
  int line;
};

constexpr int kWarpLanes = 32;

// What a lane brings to a warp operation. `complete` runs once, when all lanes of the mask have arrived, and is also
// what tells two operations apart.
struct WarpCall {
  uint32_t mask;
  Site site;
  void (*complete)(WarpCall* const lanes[kWarpLanes], uint32_t mask);
  const void* in;
  void* out;
  int argument, width;
};

// 16 bytes on their way to shared memory.
struct Copy {
  size_t at;
  uint8_t bytes[16];
};

struct Thread {
  enum class State { ready, atBarrier, inWarpCall, done };
  Fiber fiber;
  int index = 0;
  State state = State::done;
  Site site{};
  WarpCall* call = nullptr;
  std::vector<std::vector<Copy>> copies;  // by group, oldest first; the last one is open
  int lane() const { return index % kWarpLanes; }
  int warp() const { return index / kWarpLanes; }
};

// One byte of shared memory: written yet? by whom, since which barrier? and who read it?
struct SharedCell {
  struct Access {
    int32_t thread = -1, epoch = 0, warpEpoch = 0;
  };
  Access writer, readers[2];
  bool written = false;
};

class Block {
 public:
  using Body = void (*)(const void* kernel);

  void run(const void* kernel, Body body, unsigned blocks, unsigned threads, size_t dynamicShared);

  // Called by the kernel's threads.
  void barrier(Site site);
  void warpCall(WarpCall& call);
  [[noreturn]] void fail(FaultKind kind, const std::string& what);

  // Static shared arrays are known by an address unique to their declaration.
  size_t staticShared(const void* key, size_t bytes, size_t alignment);
  size_t dynamicShared(size_t offset, size_t bytes, size_t alignment);
  uint8_t* readShared(size_t at, size_t bytes);
  uint8_t* writeShared(size_t at, size_t bytes);
  // A copy writes when it starts, for others may no longer read there, and what it brings is seen once it is waited
  // for.
  void startCopy(size_t at, const uint8_t (&bytes)[16]);
  void commitCopies();
  void waitCopies(size_t groups);

 private:
  struct StaticArray {
    const void* key;
    size_t at;
  };
  static void threadMain(void* self);
  void runBlock(unsigned index, unsigned threads);
  void resume(Thread& thread);
  void releaseBarrier();
  void tryComplete(int warp);
  void diagnose();
  void orderThreads(std::vector<int>& order);
  bool ordered(const SharedCell::Access& earlier) const;
  SharedCell::Access now() const;
  std::string where(const Thread& thread) const;

  std::vector<std::unique_ptr<Thread>> threads_;  // kept from block to block for their stacks
  unsigned live_ = 0, count_ = 0;
  Thread* current_ = nullptr;
  const void* kernel_ = nullptr;
  Body body_ = nullptr;
  std::mt19937 random_;
  bool aborting_ = false;
  std::unique_ptr<Fault> fault_;
  int32_t epoch_ = 0;
  std::vector<int32_t> warpEpochs_;
  std::vector<uint8_t> shared_;
  std::vector<SharedCell> cells_;
  std::vector<StaticArray> arrays_;
  size_t staticBytes_ = 0, dynamicBytes_ = 0;
};

// The block that runs on this host thread.
Block& block();

// In which order the threads of a block and the blocks of a grid take turns: 0 rising, 1 falling, any other number the
// seed of a shuffle. Starts from the environment variable MINFORM_SIMT_ORDER. What a kernel computes must not depend on
// it.
void setOrder(uint32_t order);

constexpr size_t kStaticSharedLimit = 48 << 10;
constexpr size_t kDynamicSharedLimit = 99 << 10;  // what sm_86 and sm_89 allow, and all but sm_75 exceed

}  // namespace simt

// Set before a thread is resumed; what kernels read.
extern thread_local simt::Index3 threadIdx, blockIdx, blockDim, gridDim;
