// A test is a main() that calls CHECK / CHECK_NEAR and returns checkResult().
#pragma once

#include <cmath>
#include <cstdio>

inline int& checkFailures() {
  static int failures = 0;
  return failures;
}

inline int checkResult() {
  if (checkFailures() > 0) std::fprintf(stderr, "%d checks failed\n", checkFailures());
  return checkFailures() == 0 ? 0 : 1;
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
