// A test is a main() that calls CHECK / CHECK_NEAR and returns checkResult().
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "minform/isa.h"

inline int& checkFailures() {
  static int failures = 0;
  return failures;
}

// 77 makes ctest report "skipped": the machine lacks the level that MINFORM_ISA asks for.
inline int checkResult() {
  if (checkFailures() > 0) {
    std::fprintf(stderr, "%d checks failed\n", checkFailures());
    return 1;
  }
  const char* wanted = std::getenv("MINFORM_ISA");
  if (wanted != nullptr && std::strcmp(wanted, minform::isaName(minform::isaInUse())) != 0) {
    std::fprintf(stderr, "skipped: this machine has no %s\n", wanted);
    return 77;
  }
  return 0;
}

#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: CHECK(%s) failed\n", __FILE__, __LINE__, #condition); \
      checkFailures()++;                                                                 \
    }                                                                                    \
  } while (0)

#define CHECK_NEAR(actual, expected, tolerance)                                                         \
  do {                                                                                                  \
    const double a_ = (actual), e_ = (expected);                                                        \
    if (!(std::fabs(a_ - e_) <= (tolerance))) {                                                         \
      std::fprintf(stderr, "%s:%d: %s = %.17g, expected %.17g\n", __FILE__, __LINE__, #actual, a_, e_); \
      checkFailures()++;                                                                                \
    }                                                                                                   \
  } while (0)
