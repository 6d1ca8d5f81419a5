// Reading arguments. lib/ has validated them; what is checked again here is what memory safety rests on: kinds,
// lengths and offsets.
#pragma once

#include <cstring>
#include <string>

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

class Args {
 public:
  explicit Args(const Napi::CallbackInfo& info) : info_(info) {}

  // A typed array of exactly `length` elements.
  template <class T>
  T* array(size_t index, int64_t length) const {
    T* data = nullptr;
    const size_t found = view(index, &data);
    if (found != static_cast<size_t>(length)) fail(index, "has the wrong length");
    return data;
  }

  template <class T>
  T* array(size_t index, int64_t* length) const {
    T* data = nullptr;
    *length = static_cast<int64_t>(view(index, &data));
    return data;
  }

  // Like array, but null and undefined give nullptr.
  template <class T>
  T* optionalArray(size_t index, int64_t length) const {
    return isMissing(index) ? nullptr : array<T>(index, length);
  }

  bool isMissing(size_t index) const { return info_[index].IsNull() || info_[index].IsUndefined(); }

  // Offsets of a ragged array whose data has `total` elements.
  Rows rows(size_t index, int64_t total) const {
    const Rows rows = this->rows(index);
    if (rows.total() != total) fail(index, "does not cover the data");
    return rows;
  }

  Rows rows(size_t index) const {
    int64_t length = 0;
    const int32_t* offsets = array<int32_t>(index, &length);
    if (length < 1 || offsets[0] != 0) fail(index, "does not start at 0");
    for (int64_t i = 1; i < length; i++) {
      if (offsets[i] < offsets[i - 1]) fail(index, "falls");
    }
    return {offsets, length - 1};
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

  [[noreturn]] void fail(size_t index, const char* problem) const {
    throw Napi::TypeError::New(info_.Env(), "native argument " + std::to_string(index) + " " + problem);
  }

  Napi::Env env() const { return info_.Env(); }

 private:
  template <class T>
  size_t view(size_t index, T** data) const {
    napi_typedarray_type kind;
    size_t length = 0;
    void* memory = nullptr;
    if (!info_[index].IsTypedArray() ||
        napi_get_typedarray_info(info_.Env(), info_[index], &kind, &length, &memory, nullptr, nullptr) != napi_ok) {
      fail(index, "is not a typed array");
    }
    if (kind != TypeTag<T>::kind) fail(index, "is a typed array of another kind");
    // An empty array may come without memory; a null pointer would read as "left out".
    static T nothing{};
    *data = memory == nullptr ? &nothing : static_cast<T*>(memory);
    return length;
  }

  const Napi::CallbackInfo& info_;
};

// Calls body with a float or double tag, by the kind of the typed array at `index`.
template <class Body>
Napi::Value byFloatKind(const Args& args, size_t index, Body body) {
  return args.isFloat64(index) ? body(double{}) : body(float{});
}

}  // namespace minform
