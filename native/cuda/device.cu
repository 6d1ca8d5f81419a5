#include <cuda_runtime.h>

#include <cstdio>

#include "minform/device.h"

namespace minform {

CudaInfo cudaInfo() {
  CudaInfo info{true, 0, ""};
  const cudaError_t error = cudaGetDeviceCount(&info.deviceCount);
  if (error != cudaSuccess) {
    info.deviceCount = 0;
    std::snprintf(info.reason, sizeof info.reason, "%s: %s", cudaGetErrorName(error), cudaGetErrorString(error));
    cudaGetLastError();  // the error is sticky per thread until read
  }
  return info;
}

}  // namespace minform
