// Switching stacks: by hand on x86-64, where ucontext costs two system calls per switch; with ucontext elsewhere.
#include "fiber.h"

#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace simt {
namespace {

constexpr size_t kStackBytes = 128 << 10;
thread_local Fiber* starting = nullptr;

}  // namespace

#if defined(__x86_64__)

extern "C" void simtSwitchStack(void** save, void* load);
asm(R"(
.text
.globl simtSwitchStack
.hidden simtSwitchStack
.type simtSwitchStack, @function
simtSwitchStack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size simtSwitchStack, .-simtSwitchStack
)");

Fiber::Fiber() : stack_(static_cast<char*>(std::aligned_alloc(4096, kStackBytes))) {
  if (stack_ == nullptr) throw std::bad_alloc();
  // As if simtSwitchStack had been called by enter(): six registers, the return address, and a zero for its caller.
  void** top = reinterpret_cast<void**>(stack_ + kStackBytes) - 1;
  *top = nullptr;
  *--top = reinterpret_cast<void*>(&Fiber::enter);
  for (int i = 0; i < 6; i++) *--top = nullptr;
  inside_ = top;
}

Fiber::~Fiber() { std::free(stack_); }

static void switchContext(void** save, void* load) { simtSwitchStack(save, load); }

#else

Fiber::Fiber() : stack_(static_cast<char*>(std::aligned_alloc(4096, kStackBytes))) {
  if (stack_ == nullptr) throw std::bad_alloc();
  auto* context = new ucontext_t;
  getcontext(context);
  context->uc_stack.ss_sp = stack_;
  context->uc_stack.ss_size = kStackBytes;
  makecontext(context, &Fiber::enter, 0);
  inside_ = context;
  outside_ = new ucontext_t;
}

Fiber::~Fiber() {
  delete static_cast<ucontext_t*>(inside_);
  delete static_cast<ucontext_t*>(outside_);
  std::free(stack_);
}

static void switchContext(void** save, void* load) {
  swapcontext(static_cast<ucontext_t*>(*save), static_cast<ucontext_t*>(load));
}

#endif

void Fiber::switchIn() {
#if defined(__SANITIZE_ADDRESS__)
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, stack_, kStackBytes);
  switchContext(&outside_, inside_);
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#else
  switchContext(&outside_, inside_);
#endif
}

void Fiber::switchOut() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&fakeStack_, outsideBottom_, outsideSize_);
  switchContext(&inside_, outside_);
  __sanitizer_finish_switch_fiber(fakeStack_, &outsideBottom_, &outsideSize_);
#else
  switchContext(&inside_, outside_);
#endif
}

void Fiber::enter() {
  Fiber* self = starting;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &self->outsideBottom_, &self->outsideSize_);
#endif
  self->loop();
}

void Fiber::loop() {
  for (;;) {
    body_(context_);
    running_ = false;
    switchOut();
  }
}

void Fiber::resume(void (*body)(void*), void* context) {
  if (!running_) {
    body_ = body;
    context_ = context;
    running_ = true;
  }
  starting = this;
  switchIn();
}

void Fiber::suspend() { switchOut(); }

}  // namespace simt
