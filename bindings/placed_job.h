// Long kernels on matrices: a job on the host, work on the call's stream on the device.
#pragma once

#include "elements.h"
#include "promise_worker.h"

namespace minform {

// Calls body with the tag of the result type: float64 for float64, float32 for everything narrower.
template <class Body>
Napi::Value byResult(Element element, Body body) {
  return element == Element::float64 ? body(double{}) : body(float{});
}

// onHost(cancelled) -> status, as a job; on the device onGpu(status, stream), and nothing is returned.
template <class OnHost, class OnGpu>
Napi::Value runJob(const Args& args, const Napi::CallbackInfo& info, OnHost onHost, OnGpu onGpu) {
  return args.onDevice() ? args.start(onGpu) : PromiseWorkers::start(info, onHost);
}

}  // namespace minform
