// What the cases of simt_test are made of: toy kernels, and the faults that are expected of them.
#pragma once

#include <functional>
#include <vector>

#include "check.h"
#include "launch.h"
#include "simt/fault.h"

namespace minform::cuda {

using simt::FaultKind;

constexpr int kThreads64 = 64;

// A toy kernel from a lambda.
template <class Code>
struct Toy {
  static constexpr int kThreads = kThreads64;
  Code code;
  void operator()() const { code(); }
};

template <class Code>
void runToy(Code code, int threads = kThreads64, size_t dynamicShared = 0) {
  launch(Toy<Code>{code}, {2, threads, dynamicShared}, nullptr);
}

template <class T>
Global<T> filled(const Buffer<T>& buffer, int64_t count) {
  fillBytes(buffer.get(), 0, sizeof(T) * static_cast<size_t>(count), nullptr);
  return buffer.get();
}

inline void expectFault(FaultKind kind, const std::function<void()>& body) {
  try {
    body();
  } catch (const simt::Fault& fault) {
    std::fprintf(stderr, "caught: %s\n", fault.what());
    CHECK(fault.kind == kind);
    return;
  }
  CHECK(!"a fault is caught");
}

// A kernel that has a fault, beside its twin without it. The device is as good as new after a fault.
template <FaultKind kind, void (*run)(bool faulty)>
void caught() {
  for (uint32_t order = 0; order < 3; order++) {
    simt::setOrder(order);
    expectFault(kind, [] { run(true); });
    run(false);
  }
}

struct Case {
  const char* name;
  void (*run)();
};
using Cases = std::vector<Case>;

Cases memoryCases();
Cases barrierCases();
Cases warpCases();
Cases raceCases();
Cases launchCases();

}  // namespace minform::cuda
