// Reading arguments. lib/ has validated them; what is checked again here is what memory safety rests on: kinds,
// lengths and offsets.
//
// A call is on the host or on the device, with all its arrays. On the device its last two arguments are an array of
// status words, whose stream the call runs on, and the index of the (first) word to report in.
#pragma once

#include <cstring>
#include <string>

#include "device_array.h"
#include "minform/ragged.h"
#include "napi_setup.h"

namespace minform {

template <class T>
struct TypeTag;
template <>
struct TypeTag<float> {
  static constexpr napi_typedarray_type kind = napi_float32_array;
};
template <>
struct TypeTag<double> {
  static constexpr napi_typedarray_type kind = napi_float64_array;
};
template <>
struct TypeTag<int32_t> {
  static constexpr napi_typedarray_type kind = napi_int32_array;
};
template <>
struct TypeTag<uint8_t> {
  static constexpr napi_typedarray_type kind = napi_uint8_array;
};
template <>
struct TypeTag<uint16_t> {
  static constexpr napi_typedarray_type kind = napi_uint16_array;
};
template <>
struct TypeTag<int64_t> {
  static constexpr napi_typedarray_type kind = napi_bigint64_array;
};

// An array whose content the glue has to look at: `host` is for looking, `data` for the kernel.
template <class T>
struct Known {
  const T* host;
  const T* data;
};
struct KnownRows {
  Rows host, rows;
  int64_t total() const { return host.total(); }
};

#if defined(MINFORM_HAS_DEVICE)
constexpr bool kHasDevice = true;
#else
constexpr bool kHasDevice = false;
#endif

class Args {
 public:
  // kHost refuses arrays on the device. `statuses`: how many words a call on the device writes.
  enum Places { kHost, kAny };

  explicit Args(const Napi::CallbackInfo& info, Places places = kHost, size_t statuses = 1) : info_(info) {
    if (places == kHost || info.Length() < 2) return;
    DeviceArray* words = deviceArray(info[info.Length() - 2]);
    if (words == nullptr) return;
    const size_t at = info.Length() - 2;
    if (words->kind != napi_bigint64_array) return;
    const int32_t word = integer(at + 1);
    if (word < 0 || word + static_cast<int64_t>(statuses) > words->length || words->memory == nullptr) {
      fail(at + 1, "is no status word");
    }
    words_ = words->memory;
    status_ = static_cast<int64_t*>(words_->data) + word;
  }

  bool onDevice() const { return words_ != nullptr; }

  // An array of exactly `length` elements.
  template <class T>
  T* array(size_t index, int64_t length) const {
    int64_t found = 0;
    T* data = array<T>(index, &found);
    if (found != length) fail(index, "has the wrong length");
    return data;
  }

  template <class T>
  T* array(size_t index, int64_t* length) const {
    void* data = nullptr;
    *length = view(index, TypeTag<T>::kind, &data);
    // An empty array may come without memory; a null pointer would read as "left out".
    static T nothing{};
    return data == nullptr ? &nothing : static_cast<T*>(data);
  }

  // Parameters: on the host wherever the call is.
  template <class T>
  const T* parameters(size_t index, int64_t length) const {
    void* data = nullptr;
    if (hostView(index, TypeTag<T>::kind, &data) != length) fail(index, "has the wrong length");
    return static_cast<T*>(data);
  }

  // An array that the call writes.
  template <class T>
  T* output(size_t index, int64_t length) const {
    if (DeviceArray* out = deviceArray(info_[index]); out != nullptr && out->memory != nullptr) {
      out->memory->waitForReaders();
    }
    return array<T>(index, length);
  }

  // Like array and output, but null and undefined give nullptr.
  template <class T>
  T* optionalArray(size_t index, int64_t length) const {
    return isMissing(index) ? nullptr : array<T>(index, length);
  }
  template <class T>
  T* optionalOutput(size_t index, int64_t length) const {
    return isMissing(index) ? nullptr : output<T>(index, length);
  }

  bool isMissing(size_t index) const { return info_[index].IsNull() || info_[index].IsUndefined(); }

  // On the device only arrays that were copied there to be known, and are never written.
  template <class T>
  Known<T> known(size_t index, int64_t* length) const {
    const T* data = array<T>(index, length);
    if (!onDevice()) return {data, data};
    const std::vector<uint8_t>& content = deviceArray(info_[index])->memory->content;
    if (content.size() != static_cast<size_t>(*length) * sizeof(T)) fail(index, "has an unknown content");
    return {reinterpret_cast<const T*>(content.data()), data};
  }

  template <class T>
  Known<T> known(size_t index, int64_t length) const {
    int64_t found = 0;
    const Known<T> array = known<T>(index, &found);
    if (found != length) fail(index, "has the wrong length");
    return array;
  }

  // Offsets of a ragged array whose data has `total` elements.
  Rows rows(size_t index, int64_t total) const {
    const KnownRows rows = knownRows(index);
    if (rows.total() != total) fail(index, "does not cover the data");
    return rows.rows;
  }

  KnownRows knownRows(size_t index) const {
    int64_t length = 0;
    const Known<int32_t> offsets = known<int32_t>(index, &length);
    if (length < 1 || offsets.host[0] != 0) fail(index, "does not start at 0");
    for (int64_t i = 1; i < length; i++) {
      if (offsets.host[i] < offsets.host[i - 1]) fail(index, "falls");
    }
    return {{offsets.host, length - 1}, {offsets.data, length - 1}};
  }

  double number(size_t index) const {
    if (!info_[index].IsNumber()) fail(index, "is not a number");
    return info_[index].As<Napi::Number>().DoubleValue();
  }

  int32_t integer(size_t index) const {
    if (!info_[index].IsNumber()) fail(index, "is not a number");
    return info_[index].As<Napi::Number>().Int32Value();
  }

  bool flag(size_t index) const {
    if (!info_[index].IsBoolean()) fail(index, "is not a boolean");
    return info_[index].As<Napi::Boolean>().Value();
  }

  bool isFloat64(size_t index) const {
    if (const DeviceArray* array = deviceArray(info_[index])) return array->kind == napi_float64_array;
    return info_[index].IsTypedArray() && info_[index].As<Napi::TypedArray>().TypedArrayType() == napi_float64_array;
  }

  Napi::Array list(size_t index) const {
    if (!info_[index].IsArray()) fail(index, "is not an array");
    return info_[index].As<Napi::Array>();
  }

  // What New of the same type made.
  template <class T>
  T* external(size_t index) const {
    if (!info_[index].IsExternal()) fail(index, "is no native object");
    return info_[index].As<Napi::External<T>>().Data();
  }

  // Runs the kernel of the call's place: `onHost()` returns its status, which is returned; `onGpu(status, stream)`
  // starts work that reports in the call's word, and nothing is returned. Its parameters are declared auto: without a
  // device its body must not be compiled, since nothing defines what it calls.
  template <class OnHost, class OnGpu>
  Napi::Value run(OnHost onHost, OnGpu onGpu) const {
    if (!onDevice()) return Napi::Number::New(env(), static_cast<double>(onHost()));
    return start(onGpu);
  }

  // The part of run() on the device. Arrays of other streams are waited for, and not reused before the call is done.
  template <class OnGpu>
  Napi::Value start(OnGpu onGpu) const {
    return minform::onDevice(env(), [&]() -> Napi::Value {
      const cuda::Stream stream = words_->stream->stream;
      for (const MemoryPointer& other : foreign_) orderAfter(stream, other->stream->stream);
      if constexpr (kHasDevice) onGpu(status_, stream);
      for (const MemoryPointer& other : foreign_) orderAfter(other->stream->stream, stream);
      return env().Undefined();
    });
  }

  [[noreturn]] void fail(size_t index, const char* problem) const {
    throw Napi::TypeError::New(info_.Env(), "native argument " + std::to_string(index) + " " + problem);
  }

  Napi::Env env() const { return info_.Env(); }

 private:
  int64_t view(size_t index, napi_typedarray_type wanted, void** data) const {
    return onDevice() ? deviceView(index, wanted, data) : hostView(index, wanted, data);
  }

  int64_t hostView(size_t index, napi_typedarray_type wanted, void** data) const {
    napi_typedarray_type kind;
    size_t length = 0;
    if (!info_[index].IsTypedArray() ||
        napi_get_typedarray_info(info_.Env(), info_[index], &kind, &length, data, nullptr, nullptr) != napi_ok) {
      fail(index, "is not a typed array");
    }
    if (kind != wanted) fail(index, "is a typed array of another kind");
    return static_cast<int64_t>(length);
  }

  int64_t deviceView(size_t index, napi_typedarray_type wanted, void** data) const {
    const DeviceArray* array = deviceArray(info_[index]);
    if (array == nullptr) fail(index, "is not on the device");
    if (array->memory == nullptr) fail(index, "was disposed of");
    if (array->kind != wanted) fail(index, "is an array of another kind");
    if (array->memory->stream != words_->stream) foreign_.push_back(array->memory);
    *data = array->memory->data;
    return array->length;
  }

  const Napi::CallbackInfo& info_;
  MemoryPointer words_;
  int64_t* status_ = nullptr;
  mutable std::vector<MemoryPointer> foreign_;
};

// Calls body with a float or double tag, by the kind of the typed array at `index`.
template <class Body>
Napi::Value byFloatKind(const Args& args, size_t index, Body body) {
  return args.isFloat64(index) ? body(double{}) : body(float{});
}

}  // namespace minform
