// Instruction-set levels of the CPU kernels: which were compiled, which this machine can run, which is in use.
#pragma once

namespace minform {

enum class Isa { baseline = 0, avx2 = 1, avx512 = 2 };

// The highest level that is both compiled in and supported by this processor and operating system.
Isa isaDetected();

// isaDetected(), capped by the environment variable MINFORM_ISA ("baseline", "avx2", "avx512"), read once.
// A cap above isaDetected() has no effect; an unknown name is reported by isaCapError().
Isa isaInUse();

// The value of MINFORM_ISA when it names no level, else nullptr.
const char* isaCapError();

const char* isaName(Isa level);

}  // namespace minform
