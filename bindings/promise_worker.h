// Long kernels as promises. One process-wide thread runs the jobs of a lane in order (a kernel spreads over the native
// pool, the device is one), so libuv's four threads stay free. A job keeps its input and output arrays alive and is
// cancelled, then awaited, when its environment is torn down: the memory it works on belongs to that environment.
#pragma once

#include <functional>
#include <memory>

#include "minform/pool.h"
#include "napi_setup.h"

namespace minform {

// Runs off the JavaScript thread. Returns the kernel's status (kOk or the index of a bad element); may throw.
using JobBody = std::function<int64_t(const CancelFlag& cancelled)>;

// What jobs wait for: those of one lane never wait for those of another.
enum class Lane { kernels, device };

class PromiseWorkers {
 public:
  // Once per environment, at module load.
  static void install(Napi::Env env);

  // `keepAlive`: every argument of the call. Resolves to the status as a number; rejects with the body's exception.
  // The returned object is { promise, cancel(): void }; a cancelled job resolves to -2.
  static Napi::Value start(const Napi::CallbackInfo& info, JobBody body, Lane lane = Lane::kernels);
};

// Status of a job that saw its cancel flag.
constexpr int64_t kCancelled = -2;

}  // namespace minform
