#include "addon.h"

#include "minform/device.h"
#include "minform/isa.h"
#include "minform/pool.h"
#include "promise_worker.h"

namespace minform {

namespace {

Napi::Value capabilities(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Napi::Object result = Napi::Object::New(env);
  result.Set("isaDetected", isaName(isaDetected()));
  result.Set("isaInUse", isaName(isaInUse()));
  if (isaCapError() != nullptr) result.Set("isaCapError", isaCapError());
  const CudaInfo cuda = cudaInfo();
  result.Set("cudaCompiled", cuda.compiled);
  result.Set("cudaDevices", cuda.deviceCount);
  result.Set("cudaReason", static_cast<const char*>(cuda.reason));
  return result;
}

Napi::Value getNumThreads(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), numThreads()); }

void setThreads(const Napi::CallbackInfo& info) { setNumThreads(info[0].As<Napi::Number>().Int32Value()); }

Napi::Object init(Napi::Env env, Napi::Object exports) {
  PromiseWorkers::install(env);
  exports.Set("capabilities", Napi::Function::New(env, capabilities, "capabilities"));
  exports.Set("getNumThreads", Napi::Function::New(env, getNumThreads, "getNumThreads"));
  exports.Set("setNumThreads", Napi::Function::New(env, setThreads, "setNumThreads"));
  registerAdvantage(env, exports);
  registerCredit(env, exports);
  registerDevice(env, exports);
  registerLogProb(env, exports);
  registerLoss(env, exports);
  registerMetrics(env, exports);
  registerModel(env, exports);
  registerOptim(env, exports);
  registerPresets(env, exports);
  registerQuant(env, exports);
  registerSampling(env, exports);
  return exports;
}

}  // namespace

NODE_API_MODULE(minform, init)

}  // namespace minform
