// Whether a CUDA device can be used. Asking never fails and never throws.
#pragma once

namespace minform {

struct CudaInfo {
  bool compiled;     // built with the CUDA backend
  int deviceCount;   // 0 when there is none, or none that works
  char reason[256];  // why deviceCount is 0, in the driver's words; empty otherwise
};

CudaInfo cudaInfo();

}  // namespace minform
