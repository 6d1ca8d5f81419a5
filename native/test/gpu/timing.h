// Times calls on the device by events: the median of calls that go round over inputs which together exceed the level-2
// cache.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "minform/cuda/runtime.h"

namespace minform::cuda {

// Copies of an input, together at least twice the cache; pseudo-random bits of harmless size in every element type.
template <class T>
class Rotated {
 public:
  Rotated(int64_t count, const std::function<T(uint32_t)>& valueOf) : count_(count) {
    const size_t bytes = static_cast<size_t>(count) * sizeof(T);
    const int64_t copies = std::min<int64_t>(64, static_cast<int64_t>(2 * limits().cacheBytes / bytes) + 1);
    // The host makes one block, which is repeated with a length prime to that of a row.
    std::vector<T> block(static_cast<size_t>(std::min<int64_t>(count, (int64_t{1} << 22) - 3)));
    uint32_t state = 1;
    for (T& value : block) {
      state = state * 1664525 + 1013904223;
      value = valueOf(state >> 8);
    }
    for (int64_t copy = 0; copy < copies; copy++) {
      buffers_.push_back(std::make_unique<Buffer<T>>(count, nullptr));
      T* data = buffers_.back()->get();
      copyToDevice(data, block.data(), block.size() * sizeof(T), nullptr);
      for (int64_t at = static_cast<int64_t>(block.size()); at < count; at += static_cast<int64_t>(block.size())) {
        copyOnDevice(data + at, data,
                     static_cast<size_t>(std::min(count - at, static_cast<int64_t>(block.size()))) * sizeof(T),
                     nullptr);
      }
    }
  }
  T* at(int64_t call) const { return buffers_[static_cast<size_t>(call) % buffers_.size()]->get(); }

 private:
  int64_t count_;
  std::vector<std::unique_ptr<Buffer<T>>> buffers_;
};

struct Events {
  Event from = createEvent(), to = createEvent();
  ~Events() {
    destroyEvent(from);
    destroyEvent(to);
  }
};

// Milliseconds of one call.
inline double medianTime(int calls, const std::function<void(int64_t call)>& body) {
  const Events events;
  for (int64_t call = 0; call < 3; call++) body(call);
  std::vector<double> times;
  for (int64_t call = 0; call < calls; call++) {
    record(events.from, nullptr);
    body(call + 3);
    record(events.to, nullptr);
    times.push_back(static_cast<double>(elapsedMilliseconds(events.from, events.to)));
  }
  std::nth_element(times.begin(), times.begin() + calls / 2, times.end());
  return times[static_cast<size_t>(calls) / 2];
}

}  // namespace minform::cuda
