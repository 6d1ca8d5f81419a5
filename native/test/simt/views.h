// Pointers that kernels use under the emulator: every access is checked. native/cuda/kernel.h has their names.
#pragma once

#include <cstring>
#include <type_traits>

#include "block.h"
#include "memory.h"

namespace simt {

// An element that can be assigned to; what Global<T>[i] and Shared<T>[i] give for a T that is not const.
template <class T, class View>
class Ref {
 public:
  Ref(const View& view, int64_t index) : view_(view), index_(index) {}
  Ref(const Ref&) = default;
  operator T() const { return view_.load(index_); }
  const Ref& operator=(T value) const {
    view_.store(index_, value);
    return *this;
  }
  const Ref& operator=(const Ref& other) const { return *this = static_cast<T>(other); }
  const Ref& operator+=(T value) const { return *this = static_cast<T>(view_.load(index_) + value); }
  const Ref& operator*=(T value) const { return *this = static_cast<T>(view_.load(index_) * value); }

 private:
  View view_;
  int64_t index_;
};

// A pointer into device memory.
template <class T>
class Global {
 public:
  using Value = std::remove_const_t<T>;

  Global() = default;
  Global(std::nullptr_t) {}
  Global(T* data) : data_(data), memory_(data == nullptr ? nullptr : &allocationOf(data)) {}
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T> && !std::is_same_v<U, T>>>
  Global(const Global<U>& other) : data_(other.raw()), memory_(other.memory()) {}

  friend bool operator==(const Global& view, std::nullptr_t) { return view.data_ == nullptr; }
  friend bool operator!=(const Global& view, std::nullptr_t) { return view.data_ != nullptr; }

  Global operator+(int64_t elements) const {
    Global moved = *this;
    moved.data_ += elements;
    return moved;
  }

  auto operator[](int64_t index) const {
    if constexpr (std::is_const_v<T>) {
      return load(index);
    } else {
      return Ref<T, Global>(*this, index);
    }
  }

  Value load(int64_t index) const { return loadAs<Value>(index); }
  void store(int64_t index, Value value) const { storeAs(index, value); }

  // A Pack of several elements from `index` on, which must be aligned to the size of the pack.
  template <class Pack>
  Pack loadAs(int64_t index) const {
    check<Pack>(index).checkRead(address(index), sizeof(Pack));
    Pack value;
    std::memcpy(static_cast<void*>(&value), data_ + index, sizeof value);
    return value;
  }
  template <class Pack>
  void storeAs(int64_t index, const Pack& value) const {
    check<Pack>(index).markWritten(address(index), sizeof(Pack));
    std::memcpy(static_cast<void*>(data_ + index), &value, sizeof value);
  }

  T* raw() const { return data_; }
  Allocation* memory() const { return memory_; }

 private:
  uintptr_t address(int64_t index) const { return reinterpret_cast<uintptr_t>(data_ + index); }
  template <class Access>
  Allocation& check(int64_t index) const {
    if (memory_ == nullptr) block().fail(FaultKind::unknownMemory, "access through a null pointer");
    if (address(index) % alignof(Access) != 0) block().fail(FaultKind::misaligned, "access that is not aligned");
    return *memory_;
  }

  T* data_ = nullptr;
  Allocation* memory_ = nullptr;
};

// A pointer into an array in shared memory.
template <class T>
class Shared {
 public:
  Shared(size_t at, int64_t count) : at_(at), first_(0), count_(count) {}

  Shared operator+(int64_t elements) const {
    Shared moved = *this;
    moved.first_ += elements;
    return moved;
  }
  Ref<T, Shared> operator[](int64_t index) const { return Ref<T, Shared>(*this, index); }

  T load(int64_t index) const {
    T value;
    std::memcpy(static_cast<void*>(&value), block().readShared(address(index), sizeof(T)), sizeof(T));
    return value;
  }
  void store(int64_t index, T value) const {
    std::memcpy(block().writeShared(address(index), sizeof(T)), &value, sizeof(T));
  }

  // Packs of several elements, on addresses that are multiples of their size.
  template <class Pack>
  Pack loadAs(int64_t index) const {
    checkPack(index, alignof(Pack), sizeof(Pack));
    T values[sizeof(Pack) / sizeof(T)];
    for (size_t i = 0; i < sizeof(Pack) / sizeof(T); i++) values[i] = load(index + static_cast<int64_t>(i));
    Pack pack;
    std::memcpy(static_cast<void*>(&pack), values, sizeof pack);
    return pack;
  }
  template <class Pack>
  void storeAs(int64_t index, const Pack& value) const {
    checkPack(index, alignof(Pack), sizeof(Pack));
    std::memcpy(block().writeShared(address(index), sizeof(Pack)), &value, sizeof(Pack));
  }
  void startCopy(int64_t index, const uint8_t (&bytes)[16]) const {
    checkPack(index, 16, 16);
    block().startCopy(address(index), bytes);
  }

 private:
  void checkPack(int64_t index, size_t alignment, size_t bytes) const {
    if (address(index) % alignment != 0) block().fail(FaultKind::misaligned, "shared access that is not aligned");
    address(index + static_cast<int64_t>(bytes / sizeof(T)) - 1);
  }
  size_t address(int64_t index) const {
    const int64_t element = first_ + index;
    if (element < 0 || element >= count_) {
      block().fail(FaultKind::outOfBounds,
                   "element " + std::to_string(element) + " of a shared array of " + std::to_string(count_));
    }
    return at_ + static_cast<size_t>(element) * sizeof(T);
  }

  size_t at_;
  int64_t first_, count_;
};

}  // namespace simt
