// A thread of a block: runs on its own stack until it suspends, and is resumed where it stopped.
#pragma once

#include <cstddef>

namespace simt {

class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Called by the scheduler: runs `body(context)` from the start, or on from its last suspend(). `body` must not throw.
  void resume(void (*body)(void*), void* context);
  // Called on the fibre: back to resume().
  void suspend();
  // Whether it has started and not come to its end.
  bool running() const { return running_; }

 private:
  [[noreturn]] void loop();
  static void enter();
  void switchIn();
  void switchOut();

  char* stack_;
  void* inside_ = nullptr;   // saved context of the fibre
  void* outside_ = nullptr;  // saved context of the scheduler
  void* fakeStack_ = nullptr;
  const void* outsideBottom_ = nullptr;  // the scheduler's stack, as AddressSanitizer knows it
  size_t outsideSize_ = 0;
  void (*body_)(void*) = nullptr;
  void* context_ = nullptr;
  bool running_ = false;
};

}  // namespace simt
