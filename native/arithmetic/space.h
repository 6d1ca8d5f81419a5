// Where arithmetic stands that kernels of the CPU and of the device share, operation for operation: in the namespace of
// the CPU's instruction-set level (a copy compiled for one level must not be linked in place of another's), or in the
// device's.
#pragma once

#if defined(MINFORM_ISA)
#define MINFORM_SPACE MINFORM_ISA
#define MINFORM_FUNCTION inline
#else
#include "kernel.h"
#define MINFORM_SPACE cuda
#define MINFORM_FUNCTION __device__ __forceinline__
#endif
