#include "call.h"

#include <cstring>
#include <exception>
#include <new>

#include "minform/device.h"

namespace minform::c {

namespace {

thread_local std::string lastError;

minform_error say(minform_error error, std::string what) {
  lastError = std::move(what);
  return error;
}

minform_error errorOf(cuda::Status status) {
  switch (status) {
    case cuda::Status::noDevice:
      return MINFORM_NO_DEVICE;
    case cuda::Status::outOfMemory:
      return MINFORM_OUT_OF_MEMORY;
    case cuda::Status::deviceLost:
      return MINFORM_DEVICE_LOST;
    default:
      return MINFORM_FAILED;
  }
}

}  // namespace

minform_error guarded(minform_error (*body)(void*), void* state) {
  try {
    return body(state);
  } catch (const BadArgument& bad) {
    return say(MINFORM_BAD_ARGUMENT, bad.what);
  } catch (const cuda::Failure& failure) {
    return say(errorOf(failure.status), failure.what());
  } catch (const std::bad_alloc&) {
    return say(MINFORM_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& exception) {
    return say(MINFORM_FAILED, exception.what());
  } catch (...) {
    return say(MINFORM_FAILED, "unknown failure");
  }
}

minform_error finish(const minform_call& call, int64_t status) {
  if (call.status != nullptr) *call.status = status;
  if (status == kOk) return MINFORM_OK;
  return say(MINFORM_BAD_VALUE, "a value without a defined result at index " + std::to_string(status));
}

}  // namespace minform::c

using minform::c::guarded;
using minform::c::require;

int32_t minform_version(void) { return MINFORM_C_API_VERSION; }

const char* minform_last_error(void) { return minform::c::lastError.c_str(); }

int32_t minform_cuda_devices(char* reason, uint64_t capacity) {
  const minform::CudaInfo info = minform::cudaInfo();
  if (reason != nullptr && capacity > 0) {
    std::strncpy(reason, info.reason, capacity - 1);
    reason[capacity - 1] = 0;
  }
  return info.deviceCount;
}

minform_error minform_set_num_threads(int32_t threads) {
  return guarded([&] {
    require(threads >= 1 && threads <= 1024, "threads: expected a number in [1, 1024]");
    minform::setNumThreads(threads);
    return MINFORM_OK;
  });
}
