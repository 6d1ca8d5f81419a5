// How a kernel family reaches its callers: each ISA object defines minform::<isa>::<family>Table(Kernels<T>&) for
// float and double; MINFORM_DISPATCH defines minform::<family><T>(), the table of the level in use.
#pragma once

#include "minform/isa.h"

#if defined(MINFORM_X86)
#define MINFORM_DECLARE_TABLES(family, Kernels) \
  namespace baseline {                          \
  void family##Table(Kernels<float>&);          \
  void family##Table(Kernels<double>&);         \
  }                                             \
  namespace avx2 {                              \
  void family##Table(Kernels<float>&);          \
  void family##Table(Kernels<double>&);         \
  }                                             \
  namespace avx512 {                            \
  void family##Table(Kernels<float>&);          \
  void family##Table(Kernels<double>&);         \
  }
#define MINFORM_FILL_TABLE(family)      \
  switch (isaInUse()) {                 \
    case Isa::avx512:                   \
      avx512::family##Table(kernels);   \
      break;                            \
    case Isa::avx2:                     \
      avx2::family##Table(kernels);     \
      break;                            \
    default:                            \
      baseline::family##Table(kernels); \
  }
#else
#define MINFORM_DECLARE_TABLES(family, Kernels) \
  namespace baseline {                          \
  void family##Table(Kernels<float>&);          \
  void family##Table(Kernels<double>&);         \
  }
#define MINFORM_FILL_TABLE(family) baseline::family##Table(kernels);
#endif

#define MINFORM_DISPATCH(family, Kernels)               \
  MINFORM_DECLARE_TABLES(family, Kernels)               \
  template <class T>                                    \
  static Kernels<T> family##Pick() {                    \
    Kernels<T> kernels{};                               \
    MINFORM_FILL_TABLE(family)                          \
    return kernels;                                     \
  }                                                     \
  template <>                                           \
  const Kernels<float>& family<float>() {               \
    static const auto kernels = family##Pick<float>();  \
    return kernels;                                     \
  }                                                     \
  template <>                                           \
  const Kernels<double>& family<double>() {             \
    static const auto kernels = family##Pick<double>(); \
    return kernels;                                     \
  }
