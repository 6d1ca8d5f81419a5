// Ragged rows whose offsets are on the device.
#pragma once

#include "arithmetic/scalar.h"
#include "kernel.h"
#include "minform/ragged.h"

namespace minform::cuda {

struct DeviceRows {
  Global<const int32_t> offsets;
  int64_t count;

  explicit DeviceRows(const Rows& rows) : offsets(rows.offsets), count(rows.count) {}
  __device__ __forceinline__ int64_t begin(int64_t row) const { return offsets[row]; }
  __device__ __forceinline__ int64_t end(int64_t row) const { return offsets[row + 1]; }
};

__device__ __forceinline__ bool trained(const Global<const uint8_t>& mask, int64_t index) {
  return mask == nullptr || mask[index] != 0;
}

// Reports the counted values of a row that are not finite, by one warp.
template <class T>
__device__ __forceinline__ void reportNonFinite(const Global<const T>& values, const Global<const uint8_t>& mask,
                                                int64_t begin, int64_t end, const Global<int64_t>& status) {
  for (int64_t i = begin + laneIndex(); i < end; i += kWarp) {
    if (trained(mask, i) && !isFinite(values[i])) reportBad(status, i);
  }
}

}  // namespace minform::cuda
