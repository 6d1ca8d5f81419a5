// State of one loaded addon: one per Node environment (main thread, each worker), never process-wide.
#pragma once

#include "napi_setup.h"

namespace minform {

// The functions of one family: exports.<family>.<name>.
class Family {
 public:
  Family(Napi::Env env, Napi::Object exports, const char* name) : functions_(Napi::Object::New(env)) {
    exports.Set(name, functions_);
  }
  template <class Function>
  Family& add(const char* name, Function function) {
    functions_.Set(name, Napi::Function::New(functions_.Env(), function, name));
    return *this;
  }

 private:
  Napi::Object functions_;
};

void registerAdvantage(Napi::Env env, Napi::Object exports);
void registerCredit(Napi::Env env, Napi::Object exports);
void registerDevice(Napi::Env env, Napi::Object exports);
void registerLogProb(Napi::Env env, Napi::Object exports);
void registerLoss(Napi::Env env, Napi::Object exports);
void registerMetrics(Napi::Env env, Napi::Object exports);
void registerModel(Napi::Env env, Napi::Object exports);
void registerOptim(Napi::Env env, Napi::Object exports);
void registerPresets(Napi::Env env, Napi::Object exports);
void registerQuant(Napi::Env env, Napi::Object exports);
void registerSampling(Napi::Env env, Napi::Object exports);

}  // namespace minform
