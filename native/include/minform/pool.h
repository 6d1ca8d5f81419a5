// The thread pool that every long kernel shares. Work is cut into pieces whose results do not depend on which thread
// runs them, so a result has the same bits for every thread count.
#pragma once

#include <atomic>
#include <cstdint>

namespace minform {

// Threads that take part in a parallelFor, the caller included. Default: the machine's physical cores.
int numThreads();
void setNumThreads(int threads);

// Runs body(context, i) for every i in [0, count), in any order, on the caller and the pool; returns when all are done.
// Safe to call from several threads at once. The body must not throw.
using ParallelBody = void (*)(void* context, int64_t index);
void parallelFor(int64_t count, ParallelBody body, void* context);

// Cancellation: long kernels poll the flag between pieces and leave early; the caller then discards the output.
using CancelFlag = std::atomic<bool>;

}  // namespace minform
