// Starting kernels (kernel.h). A launch that the device refuses throws Failure; faults of a kernel while it runs show
// up at the next call that waits, and under the emulator in launch() itself.
#pragma once

#include <type_traits>

#include "kernel.h"
#include "launch_shape.h"
#include "minform/cuda/runtime.h"

namespace minform::cuda {

inline int64_t ceilDivide(int64_t count, int64_t by) { return (count + by - 1) / by; }

#if defined(__CUDACC__)

void checkLaunch(cudaError_t error);

// How many blocks the compiler should let fit on a multiprocessor: kResident of the kernel, or what it thinks best (0).
// Where it would rather spill than use registers, 1 keeps it from that.
template <class Kernel, class = void>
struct Resident {
  static constexpr int kBlocks = 0;
};
template <class Kernel>
struct Resident<Kernel, std::void_t<decltype(Kernel::kResident)>> {
  static constexpr int kBlocks = Kernel::kResident;
};

template <class Kernel>
__global__ void __launch_bounds__(Kernel::kThreads, Resident<Kernel>::kBlocks)
    run(const __grid_constant__ Kernel kernel) {
  kernel();
}

template <class Kernel>
void launch(const Kernel& kernel, const Shape& shape, Stream stream) {
  checkShape(shape, Kernel::kThreads);
  if (shape.blocks == 0) return;
  if (shape.dynamicShared > (48 << 10)) {
    checkLaunch(cudaFuncSetAttribute(run<Kernel>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(shape.dynamicShared)));
  }
  run<<<static_cast<unsigned>(shape.blocks), static_cast<unsigned>(shape.threads), shape.dynamicShared, stream>>>(
      kernel);
  checkLaunch(cudaGetLastError());
}

#else

template <class Kernel>
void launch(const Kernel& kernel, const Shape& shape, Stream) {
  checkShape(shape, Kernel::kThreads);
  if (shape.blocks == 0) return;
  simt::block().run(
      &kernel, [](const void* self) { (*static_cast<const Kernel*>(self))(); }, static_cast<unsigned>(shape.blocks),
      static_cast<unsigned>(shape.threads), shape.dynamicShared);
}

#endif

// A warp per row, kRowWarps rows per block; kernels start with rowOfWarp().
constexpr int kRowWarps = 4;
inline Shape warpPerRow(int64_t rows) { return {ceilDivide(rows, kRowWarps), kRowWarps * kWarp}; }
__device__ __forceinline__ int64_t rowOfWarp() { return int64_t{blockIdx.x} * kRowWarps + warpIndex(); }

// A thread per element.
inline Shape threadPerElement(int64_t count, int threads) { return {ceilDivide(count, threads), threads}; }
__device__ __forceinline__ int64_t elementOfThread() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

}  // namespace minform::cuda
