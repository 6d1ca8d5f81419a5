// What the functions of the C interface share: errors, checks, and running a kernel where the call says.
#pragma once

#include <string>

#include "minform/c_api.h"
#include "minform/cuda/runtime.h"
#include "minform/matrix.h"
#include "minform/pool.h"
#include "minform/ragged.h"

namespace minform::c {

// An argument that makes no sense.
struct BadArgument {
  std::string what;
};

inline void require(bool holds, const char* what) {
  if (!holds) throw BadArgument{what};
}

// Runs body, which throws or returns the error; the text of minform_last_error.
minform_error guarded(minform_error (*body)(void*), void* state);
template <class Body>
minform_error guarded(Body body) {
  return guarded([](void* state) { return (*static_cast<Body*>(state))(); }, &body);
}

// Status of a bad value as the caller gets it.
minform_error finish(const minform_call& call, int64_t status);

#if defined(MINFORM_HAS_DEVICE)
constexpr bool kHasDevice = true;
#else
constexpr bool kHasDevice = false;
#endif

// onHost() -> status; onGpu(status, stream). The parameters of onGpu are declared auto: its body is not compiled where
// there is no device.
template <class OnHost, class OnGpu>
minform_error run(const minform_call* call, OnHost onHost, OnGpu onGpu) {
  require(call != nullptr, "call: expected a minform_call, got NULL");
  if (call->device == MINFORM_HOST) return finish(*call, onHost());
  require(call->device == MINFORM_CUDA, "call->device: expected MINFORM_HOST or MINFORM_CUDA");
  if constexpr (kHasDevice) {
    const auto stream = static_cast<cuda::Stream>(call->stream);
    if (call->status != nullptr) {
      onGpu(call->status, stream);
      return MINFORM_OK;
    }
    const cuda::Buffer<int64_t> status(1, stream);
    onGpu(status.get(), stream);
    return finish(*call, cuda::readStatus(status.get(), stream));
  } else {
    throw cuda::Failure(cuda::Status::noDevice, "this build has no CUDA backend");
  }
}

template <class Body>
minform_error byFloat(minform_dtype dtype, Body body) {
  require(dtype == MINFORM_FLOAT32 || dtype == MINFORM_FLOAT64, "dtype: expected MINFORM_FLOAT32 or MINFORM_FLOAT64");
  return dtype == MINFORM_FLOAT64 ? body(double{}) : body(float{});
}

// The type of results: float for everything narrower than double.
template <class Body>
minform_error byResult(minform_dtype dtype, Body body) {
  require(dtype >= MINFORM_FLOAT32 && dtype <= MINFORM_FLOAT16, "dtype: expected a minform_dtype");
  return dtype == MINFORM_FLOAT64 ? body(double{}) : body(float{});
}

inline Element elementOf(minform_dtype dtype) { return static_cast<Element>(dtype); }

inline bool onHost(const minform_call* call) { return call != nullptr && call->device == MINFORM_HOST; }

// Rows of a ragged array, whose offsets are checked when they can be read.
inline Rows rowsOf(const minform_call* call, const int32_t* offsets, int64_t rows, int64_t total) {
  require(offsets != nullptr && rows >= 1, "offsets: expected those of at least one row");
  require(total >= 0 && total <= 2147483647, "total: expected a count below 2^31");
  if (onHost(call)) {
    require(offsets[0] == 0 && offsets[rows] == total, "offsets: expected 0 first and total last");
    for (int64_t row = 0; row < rows; row++) require(offsets[row] <= offsets[row + 1], "offsets: expected no fall");
  }
  return {offsets, rows};
}

// Extents of a matrix.
inline void checkExtents(int64_t rows, int64_t columns) {
  require(rows >= 1 && rows <= 2147483647 && columns >= 1 && columns <= 2147483647,
          "rows, vocabulary: expected extents in [1, 2^31)");
}

// Steps of the rows of `tokens`, whose last tokens are checked when they can be read: kernels write between them.
inline Rows stepsOf(const minform_call* call, const Rows& tokens, const int32_t* offsets, int64_t total,
                    const int32_t* ends) {
  const Rows steps = rowsOf(call, offsets, tokens.count, total);
  require(ends != nullptr, "step_ends: expected memory, got NULL");
  for (int64_t row = 0; onHost(call) && row < steps.count; row++) {
    int64_t previous = -1;
    for (int64_t step = steps.begin(row); step < steps.end(row); step++) {
      require(ends[step] > previous && ends[step] < tokens.length(row), "step_ends: expected to rise within their row");
      previous = ends[step];
    }
  }
  return steps;
}

}  // namespace minform::c
