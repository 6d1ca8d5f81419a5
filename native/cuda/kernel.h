// What every kernel file includes: CUDA as nvcc compiles it, or, without nvcc, the same spelling on the SIMT emulator
// (native/test/simt), where each access is checked. A kernel is a struct: its fields are the arguments, kThreads the
// launch bound, operator() the code of one thread. launch.h starts it.
//
//   template <class T>
//   struct Scale {
//     static constexpr int kThreads = 256;
//     Global<T> values;
//     int64_t count;
//     T factor;
//
//     __device__ void operator()() const {
//       const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
//       if (i < count) values[i] = values[i] * factor;
//     }
//   };
//
// Global<T> is a pointer into device memory, Shared<T> one into shared memory. SHARED(T, name, count) declares a static
// shared array, DYNAMIC_SHARED(T, name, offset, count) one that starts `offset` bytes into the launch's dynamic part.
// fma() is written where it is wanted: contraction is off, so that emulator, CPU and GPU round alike.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)

namespace minform::cuda {

template <class T>
using Global = T*;
template <class T>
using Shared = T*;

// A pack of neighbouring elements in one access.
template <class Pack, class T>
__device__ __forceinline__ Pack loadAs(Global<const T> from, int64_t index) {
  return *reinterpret_cast<const Pack*>(from + index);
}
template <class Pack, class T>
__device__ __forceinline__ void storeAs(Global<T> to, int64_t index, const Pack& value) {
  *reinterpret_cast<Pack*>(to + index) = value;
}

template <class Pack, class T>
__device__ __forceinline__ Pack loadShared(Shared<T> from, int64_t index) {
  return *reinterpret_cast<const Pack*>(from + index);
}
template <class Pack, class T>
__device__ __forceinline__ void storeShared(Shared<T> to, int64_t index, const Pack& value) {
  *reinterpret_cast<Pack*>(to + index) = value;
}

// Starts to copy 16 bytes to shared memory, zeros when not `inside`; both addresses are on 16 bytes. The thread goes on
// meanwhile where the architecture has it (sm_80). After waitCopies<n>() all but its last n groups are there, for other
// threads after a barrier; commitCopies() ends a group.
template <class T>
__device__ __forceinline__ void startCopy(Shared<T> to, int64_t at, Global<const T> from, int64_t index, bool inside) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(to + at));
  const int bytes = inside ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from + (inside ? index : 0)),
               "r"(bytes)
               : "memory");
#else
  *reinterpret_cast<uint4*>(to + at) = inside ? *reinterpret_cast<const uint4*>(from + index) : uint4{0, 0, 0, 0};
#endif
}
__device__ __forceinline__ void commitCopies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int kGroups>
__device__ __forceinline__ void waitCopies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
#endif
}

// Reports a bad element (readStatus in minform/cuda/runtime.h): whatever the order, the lowest index stays.
__device__ __forceinline__ void reportBad(Global<int64_t> status, int64_t index) {
  atomicMin(reinterpret_cast<unsigned long long*>(status), static_cast<unsigned long long>(index));
}

// Adds to a counter, whatever the order.
__device__ __forceinline__ void addCount(Global<int64_t> counters, int64_t index, int64_t by) {
  atomicAdd(reinterpret_cast<unsigned long long*>(counters + index), static_cast<unsigned long long>(by));
}

// 2^x within 2 units in the last place, below 2^-126 zero.
__device__ __forceinline__ float fastExp2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

}  // namespace minform::cuda

#define SHARED(T, name, count) __shared__ T name[count]
#define DYNAMIC_SHARED(T, name, offset, count)              \
  extern __shared__ __align__(128) uint8_t dynamicShared[]; \
  T* const name = reinterpret_cast<T*>(dynamicShared + (offset))

#else

#include "simt/intrinsics.h"

#define __device__
#define __host__
#define __forceinline__ inline

namespace minform::cuda {

using simt::Global;
using simt::Shared;

template <class Pack, class T>
Pack loadAs(const Global<const T>& from, int64_t index) {
  return from.template loadAs<Pack>(index);
}
template <class Pack, class T>
void storeAs(const Global<T>& to, int64_t index, const Pack& value) {
  to.storeAs(index, value);
}

template <class Pack, class T>
Pack loadShared(const Shared<T>& from, int64_t index) {
  return from.template loadAs<Pack>(index);
}
template <class Pack, class T>
void storeShared(const Shared<T>& to, int64_t index, const Pack& value) {
  to.storeAs(index, value);
}

template <class T>
void startCopy(const Shared<T>& to, int64_t at, const Global<const T>& from, int64_t index, bool inside) {
  struct alignas(16) Line {
    uint8_t bytes[16];
  };
  const Line line = inside ? from.template loadAs<Line>(index) : Line{};
  to.startCopy(at, line.bytes);
}
inline void commitCopies() { simt::block().commitCopies(); }
template <int kGroups>
void waitCopies() {
  simt::block().waitCopies(kGroups);
}

inline void reportBad(const Global<int64_t>& status, int64_t index) {
  if (static_cast<uint64_t>(index) < static_cast<uint64_t>(status.load(0))) status.store(0, index);
}

inline void addCount(const Global<int64_t>& counters, int64_t index, int64_t by) {
  counters.store(index, counters.load(index) + by);
}

inline float fastExp2(float x) { return std::exp2(x); }

}  // namespace minform::cuda

#define SHARED(T, name, count)     \
  static const char name##Key = 0; \
  const ::simt::Shared<T> name(::simt::block().staticShared(&name##Key, sizeof(T) * (count), alignof(T)), (count))
#define DYNAMIC_SHARED(T, name, offset, count) \
  const ::simt::Shared<T> name(::simt::block().dynamicShared((offset), sizeof(T) * (count), alignof(T)), (count))

#endif

namespace minform::cuda {

constexpr int kWarp = 32;
constexpr uint32_t kAllLanes = 0xFFFFFFFFu;

__device__ __forceinline__ int laneIndex() { return static_cast<int>(threadIdx.x) % kWarp; }
__device__ __forceinline__ int warpIndex() { return static_cast<int>(threadIdx.x) / kWarp; }

}  // namespace minform::cuda
