#include "device_array.h"

namespace minform {

void DeviceMemory::beginRead() {
  const std::lock_guard<std::mutex> lock(mutex_);
  readers_++;
}

void DeviceMemory::endRead() {
  const std::lock_guard<std::mutex> lock(mutex_);
  readers_--;
  done_.notify_all();
}

void DeviceMemory::waitForReaders() {
  std::unique_lock<std::mutex> lock(mutex_);
  done_.wait(lock, [this] { return readers_ == 0; });
}

namespace {

constexpr napi_type_tag kArrayTag = {0x6D696E666F726D01, 0x6465766963654101};
constexpr napi_type_tag kStreamTag = {0x6D696E666F726D01, 0x6465766963655301};

template <class T>
T* unwrap(Napi::Value value, const napi_type_tag& tag) {
  if (!value.IsExternal()) return nullptr;
  const auto external = value.As<Napi::External<T>>();
  return external.CheckTypeTag(&tag) ? external.Data() : nullptr;
}

// The garbage collector sees a small object: it is told what hangs on it.
void account(Napi::Env env, const DeviceArray& array, int sign) {
  Napi::MemoryManagement::AdjustExternalMemory(env, sign * static_cast<int64_t>(array.memory->bytes));
}

}  // namespace

Napi::Value wrap(Napi::Env env, DeviceArray array) {
  auto owned = std::make_unique<DeviceArray>(std::move(array));
  account(env, *owned, 1);
  const auto value = Napi::External<DeviceArray>::New(env, owned.get(), [](Napi::Env from, DeviceArray* collected) {
    dispose(from, collected);
    delete collected;
  });
  owned.release();
  value.TypeTag(&kArrayTag);
  return value;
}

Napi::Value wrap(Napi::Env env, StreamPointer stream) {
  auto owned = std::make_unique<StreamPointer>(std::move(stream));
  const auto value = Napi::External<StreamPointer>::New(env, owned.get(),
                                                        [](Napi::Env, StreamPointer* collected) { delete collected; });
  owned.release();
  value.TypeTag(&kStreamTag);
  return value;
}

DeviceArray* deviceArray(Napi::Value value) { return unwrap<DeviceArray>(value, kArrayTag); }
StreamPointer* deviceStream(Napi::Value value) { return unwrap<StreamPointer>(value, kStreamTag); }

void dispose(Napi::Env env, DeviceArray* array) {
  if (array->memory == nullptr) return;
  account(env, *array, -1);
  array->memory.reset();
}

void orderAfter(cuda::Stream later, cuda::Stream earlier) {
  const cuda::Event event = cuda::createEvent();
  try {
    cuda::record(event, earlier);
    cuda::wait(later, event);
  } catch (...) {
    cuda::destroyEvent(event);
    throw;
  }
  cuda::destroyEvent(event);
}

Napi::Error deviceError(Napi::Env env, cuda::Status status, const std::string& reason) {
  Napi::Error error = Napi::Error::New(env, reason);
  error.Set("cudaStatus", Napi::Number::New(env, static_cast<int32_t>(status)));
  return error;
}

}  // namespace minform
