#include "block.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

thread_local simt::Index3 threadIdx, blockIdx, blockDim, gridDim;

namespace simt {
namespace {

struct Aborted {};  // unwinds the threads of a block that has failed

uint32_t orderFromEnvironment() {
  const char* text = std::getenv("MINFORM_SIMT_ORDER");
  return text == nullptr ? 0 : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

uint32_t& currentOrder() {
  static thread_local uint32_t order = orderFromEnvironment();
  return order;
}

bool sameSite(const Site& a, const Site& b) { return a.line == b.line && std::strcmp(a.file, b.file) == 0; }

std::string text(const Site& site) {
  const char* slash = std::strrchr(site.file, '/');
  return std::string(slash == nullptr ? site.file : slash + 1) + ":" + std::to_string(site.line);
}

}  // namespace

Block& block() {
  static thread_local Block running;
  return running;
}

void setOrder(uint32_t order) { currentOrder() = order; }

std::string Block::where(const Thread& thread) const {
  return "thread " + std::to_string(thread.index) + " of block " + std::to_string(blockIdx.x);
}

void Block::fail(FaultKind kind, const std::string& what) {
  const std::string who = current_ == nullptr ? "block " + std::to_string(blockIdx.x) : where(*current_);
  if (fault_ == nullptr) fault_ = std::make_unique<Fault>(kind, who + ": " + what);
  if (current_ == nullptr) throw *fault_;
  throw Aborted();
}

void Block::threadMain(void* self) {
  Block& on = *static_cast<Block*>(self);
  Thread& thread = *on.current_;
  try {
    on.body_(on.kernel_);
  } catch (const Aborted&) {
  } catch (const Fault& fault) {
    if (on.fault_ == nullptr) on.fault_ = std::make_unique<Fault>(fault.kind, on.where(thread) + ": " + fault.what());
  }
  thread.state = Thread::State::done;
}

void Block::resume(Thread& thread) {
  current_ = &thread;
  threadIdx = {static_cast<unsigned>(thread.index), 0, 0};
  thread.fiber.resume(threadMain, this);
  current_ = nullptr;
  if (thread.state == Thread::State::done) live_--;
}

void Block::orderThreads(std::vector<int>& order) {
  if (currentOrder() > 1) std::shuffle(order.begin(), order.end(), random_);
}

void Block::run(const void* kernel, Body body, unsigned blocks, unsigned threads, size_t dynamicShared) {
  kernel_ = kernel;
  body_ = body;
  dynamicBytes_ = dynamicShared;
  gridDim = {blocks, 1, 1};
  blockDim = {threads, 1, 1};
  while (threads_.size() < threads) {
    threads_.push_back(std::make_unique<Thread>());
    threads_.back()->index = static_cast<int>(threads_.size()) - 1;
  }
  std::vector<unsigned> order(blocks);
  for (unsigned i = 0; i < blocks; i++) order[i] = currentOrder() == 1 ? blocks - 1 - i : i;
  random_.seed(currentOrder());
  if (currentOrder() > 1) std::shuffle(order.begin(), order.end(), random_);
  for (const unsigned index : order) runBlock(index, threads);
}

void Block::runBlock(unsigned index, unsigned threads) {
  blockIdx = {index, 0, 0};
  aborting_ = false;
  fault_ = nullptr;
  epoch_ = 0;
  warpEpochs_.assign((threads + kWarpLanes - 1) / kWarpLanes, 0);
  // Dynamic shared memory comes first: the sizes of the static arrays are known when they are met.
  shared_.assign(dynamicBytes_, 0xAB);
  cells_.assign(dynamicBytes_, SharedCell());
  arrays_.clear();
  staticBytes_ = 0;
  live_ = count_ = threads;
  std::vector<int> order(threads);
  for (unsigned i = 0; i < threads; i++) {
    order[i] = static_cast<int>(currentOrder() == 1 ? threads - 1 - i : i);
    threads_[i]->state = Thread::State::ready;
    threads_[i]->copies.assign(1, {});
  }
  while (live_ > 0 && fault_ == nullptr) {
    bool progressed = false;
    orderThreads(order);
    for (const int i : order) {
      Thread& thread = *threads_[static_cast<size_t>(i)];
      if (thread.state != Thread::State::ready) continue;
      resume(thread);
      progressed = true;
      if (fault_ != nullptr) break;
    }
    if (progressed || live_ == 0) continue;
    diagnose();
    if (fault_ == nullptr) releaseBarrier();
  }
  if (fault_ == nullptr) return;
  // Every thread that is still somewhere inside the kernel unwinds its stack.
  aborting_ = true;
  for (unsigned i = 0; i < threads; i++) {
    Thread& thread = *threads_[i];
    if (thread.fiber.running()) resume(thread);
    thread.call = nullptr;
  }
  throw *fault_;
}

// No thread can run: either all wait at one barrier, or the kernel is at fault.
void Block::diagnose() {
  const Thread* first = nullptr;
  for (unsigned i = 0; i < count_; i++) {
    const Thread& thread = *threads_[i];
    const auto report = [&](FaultKind kind, const std::string& what) {
      fault_ = std::make_unique<Fault>(kind, where(thread) + " waits at " + text(thread.site) + " " + what);
    };
    if (thread.state == Thread::State::inWarpCall) {
      return report(FaultKind::warpMask, "for lanes of its warp that exited or wait elsewhere");
    }
    if (thread.state != Thread::State::atBarrier) continue;
    if (live_ < count_) return report(FaultKind::divergentBarrier, "for threads that exited");
    if (first != nullptr && !sameSite(first->site, thread.site)) {
      return report(FaultKind::divergentBarrier, "while another waits at " + text(first->site));
    }
    first = &thread;
  }
}

void Block::releaseBarrier() {
  epoch_++;
  for (unsigned i = 0; i < count_; i++) threads_[i]->state = Thread::State::ready;
}

void Block::barrier(Site site) {
  Thread& self = *current_;
  self.site = site;
  self.state = Thread::State::atBarrier;
  self.fiber.suspend();
  if (aborting_) throw Aborted();
}

void Block::warpCall(WarpCall& call) {
  Thread& self = *current_;
  if ((call.mask >> self.lane() & 1) == 0) fail(FaultKind::warpMask, "is not in its own mask at " + text(call.site));
  for (int lane = 0; lane < kWarpLanes; lane++) {
    const unsigned index = static_cast<unsigned>(self.warp() * kWarpLanes + lane);
    if ((call.mask >> lane & 1) == 0) continue;
    if (index >= count_ || threads_[index]->state == Thread::State::done) {
      fail(FaultKind::warpMask,
           "the mask names lane " + std::to_string(lane) + ", which is not there, at " + text(call.site));
    }
  }
  self.site = call.site;
  self.call = &call;
  self.state = Thread::State::inWarpCall;
  tryComplete(self.warp());
  if (self.state == Thread::State::inWarpCall) self.fiber.suspend();
  if (aborting_) throw Aborted();
}

// Completes the current thread's call if it is the last of its mask to arrive.
void Block::tryComplete(int warp) {
  const WarpCall& call = *current_->call;
  WarpCall* lanes[kWarpLanes] = {};
  for (int lane = 0; lane < kWarpLanes; lane++) {
    if ((call.mask >> lane & 1) == 0) continue;
    const Thread& other = *threads_[static_cast<size_t>(warp * kWarpLanes + lane)];
    if (other.state != Thread::State::inWarpCall) return;
    if (other.call->mask != call.mask || other.call->complete != call.complete) {
      fail(FaultKind::warpMask, "meets another mask or operation of its warp at " + text(call.site));
    }
    lanes[lane] = other.call;
  }
  call.complete(lanes, call.mask);
  if (call.in == nullptr) warpEpochs_[static_cast<size_t>(warp)]++;  // __syncwarp orders memory, shuffles do not
  for (int lane = 0; lane < kWarpLanes; lane++) {
    if (lanes[lane] == nullptr) continue;
    Thread& other = *threads_[static_cast<size_t>(warp * kWarpLanes + lane)];
    other.state = Thread::State::ready;
    other.call = nullptr;
  }
}

size_t Block::staticShared(const void* key, size_t bytes, size_t alignment) {
  for (const StaticArray& array : arrays_) {
    if (array.key == key) return array.at;
  }
  const size_t at = (shared_.size() + alignment - 1) / alignment * alignment;
  staticBytes_ += bytes;
  if (staticBytes_ > kStaticSharedLimit) {
    fail(FaultKind::launch, std::to_string(staticBytes_) + " bytes of static shared memory");
  }
  shared_.resize(at + bytes, 0xAB);
  cells_.resize(at + bytes);
  arrays_.push_back({key, at});
  return at;
}

size_t Block::dynamicShared(size_t offset, size_t bytes, size_t alignment) {
  if (offset % alignment != 0) fail(FaultKind::misaligned, "dynamic shared array at byte " + std::to_string(offset));
  if (offset + bytes > dynamicBytes_) {
    fail(FaultKind::outOfBounds, "dynamic shared array ends at byte " + std::to_string(offset + bytes) + " of " +
                                     std::to_string(dynamicBytes_));
  }
  return offset;
}

SharedCell::Access Block::now() const {
  return {current_->index, epoch_, warpEpochs_[static_cast<size_t>(current_->warp())]};
}

// Whether an earlier access is done for certain before the current thread's next one.
bool Block::ordered(const SharedCell::Access& earlier) const {
  if (earlier.thread < 0 || earlier.thread == current_->index || earlier.epoch < epoch_) return true;
  const int warp = earlier.thread / kWarpLanes;
  return warp == current_->warp() && earlier.warpEpoch < warpEpochs_[static_cast<size_t>(warp)];
}

uint8_t* Block::readShared(size_t at, size_t bytes) {
  for (size_t i = at; i < at + bytes; i++) {
    if (!cells_[i].written) fail(FaultKind::uninitialisedRead, "shared memory was not written before this read");
    if (!ordered(cells_[i].writer)) fail(FaultKind::race, "reads shared memory that another thread writes");
  }
  // An element is read and written whole: its first byte stands for it.
  SharedCell& cell = cells_[at];
  SharedCell::Access& slot = ordered(cell.readers[0]) ? cell.readers[0] : cell.readers[1];
  slot = now();
  return &shared_[at];
}

uint8_t* Block::writeShared(size_t at, size_t bytes) {
  for (size_t i = at; i < at + bytes; i++) {
    SharedCell& cell = cells_[i];
    if (!ordered(cell.writer)) fail(FaultKind::race, "writes shared memory that another thread writes");
    if (!ordered(cell.readers[0]) || !ordered(cell.readers[1])) {
      fail(FaultKind::race, "writes shared memory that another thread reads");
    }
    cell.writer = now();
    cell.written = true;
  }
  return &shared_[at];
}

void Block::startCopy(size_t at, const uint8_t (&bytes)[16]) {
  writeShared(at, 16);
  Copy copy{at, {}};
  std::memcpy(copy.bytes, bytes, 16);
  for (size_t i = at; i < at + 16; i++) cells_[i].written = false;
  current_->copies.back().push_back(copy);
}

void Block::commitCopies() { current_->copies.emplace_back(); }

void Block::waitCopies(size_t groups) {
  auto& copies = current_->copies;
  while (copies.size() > groups + 1) {
    for (const Copy& copy : copies.front()) std::memcpy(writeShared(copy.at, 16), copy.bytes, 16);
    copies.erase(copies.begin());
  }
}

}  // namespace simt
