// What the emulator catches. A fault ends the launch: the call that launched the kernel throws it.
#pragma once

#include <string>

#include "minform/cuda/runtime.h"

namespace simt {

enum class FaultKind {
  outOfBounds,
  uninitialisedRead,
  misaligned,
  unknownMemory,  // a pointer that is in no live allocation
  divergentBarrier,
  warpMask,  // a warp operation whose lanes cannot all arrive, or that reads a lane outside its mask
  race,
  launch,  // more threads or shared memory than the kernel or the device allows
};

class Fault : public minform::cuda::Failure {
 public:
  Fault(FaultKind kind, const std::string& what) : Failure(minform::cuda::Status::failed, what), kind(kind) {}
  const FaultKind kind;
};

}  // namespace simt
