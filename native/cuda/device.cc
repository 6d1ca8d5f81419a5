// What the CUDA device and the emulated one share.
#include <string>

#include "launch_shape.h"
#include "minform/cuda/runtime.h"
#include "minform/ragged.h"

namespace minform::cuda {

void checkShape(const Shape& shape, int bound) {
  const auto refuse = [](const std::string& what) { throw Failure(Status::invalidLaunch, what); };
  if (shape.threads < 1 || shape.threads > bound) {
    refuse(std::to_string(shape.threads) + " threads per block for a kernel bound to " + std::to_string(bound));
  }
  if (shape.blocks < 0 || shape.blocks > 2147483647) refuse(std::to_string(shape.blocks) + " blocks");
  if (shape.dynamicShared > (48 << 10) && shape.dynamicShared > limits().sharedBytesPerBlock) {
    refuse(std::to_string(shape.dynamicShared) + " bytes of dynamic shared memory");
  }
}

void resetStatus(int64_t* status, Stream stream) {
  static_assert(kOk == -1, "kOk is all ones, the largest unsigned number");
  fillBytes(status, 0xFF, sizeof *status, stream);
}

int64_t readStatus(const int64_t* status, Stream stream) {
  int64_t value;
  copyToHost(&value, status, sizeof value, stream);
  return value;
}

}  // namespace minform::cuda
