#include "minform/device.h"

namespace minform {

CudaInfo cudaInfo() { return {false, 0, "this build has no CUDA backend"}; }

}  // namespace minform
