#include "minform/isa.h"

#include <cstdlib>
#include <cstring>

namespace minform {

namespace {

const char* const kNames[] = {"baseline", "avx2", "avx512"};

Isa detect() {
#if defined(MINFORM_X86)
  // __builtin_cpu_supports covers the operating system's saving of the wide registers.
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("f16c")) {
    return Isa::baseline;
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return Isa::avx512;
  }
  return Isa::avx2;
#else
  return Isa::baseline;
#endif
}

// Index of the level that MINFORM_ISA names; -1 when unset, -2 when unknown.
int readCap() {
  const char* value = std::getenv("MINFORM_ISA");
  if (value == nullptr || *value == '\0') return -1;
  for (int level = 0; level < 3; level++) {
    if (std::strcmp(value, kNames[level]) == 0) return level;
  }
  return -2;
}

}  // namespace

Isa isaDetected() {
  static const Isa level = detect();
  return level;
}

Isa isaInUse() {
  static const Isa level = [] {
    const int cap = readCap();
    const Isa detected = isaDetected();
    return cap >= 0 && cap < static_cast<int>(detected) ? static_cast<Isa>(cap) : detected;
  }();
  return level;
}

const char* isaCapError() { return readCap() == -2 ? std::getenv("MINFORM_ISA") : nullptr; }

const char* isaName(Isa level) { return kNames[static_cast<int>(level)]; }

}  // namespace minform
