// Memory for activations: taken in order, given back all at once or down to a mark, kept for the next pass.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/memory.h"

namespace minform {

class Arena {
 public:
  struct Mark {
    size_t chunk, used;
  };

  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() {
    for (const Chunk& chunk : chunks_) scratchFree(chunk.memory);
  }

  template <class T>
  T* take(int64_t count) {
    return static_cast<T*>(bytes((static_cast<size_t>(count) * sizeof(T) + 63) / 64 * 64));
  }

  Mark mark() const { return at_; }
  void rewind(Mark mark) { at_ = mark; }
  int64_t held() const { return static_cast<int64_t>(held_); }

 private:
  struct Chunk {
    void* memory;
    size_t size;
  };

  void* bytes(size_t size) {
    while (at_.chunk < chunks_.size() && at_.used + size > chunks_[at_.chunk].size) at_ = {at_.chunk + 1, 0};
    if (at_.chunk == chunks_.size()) {
      const size_t grown = held_ / 4 > (size_t{1} << 20) ? held_ / 4 : size_t{1} << 20;
      const size_t wanted = size > grown ? size : grown;
      chunks_.push_back({scratchAllocate(wanted), wanted});
      held_ += wanted;
    }
    void* memory = static_cast<char*>(chunks_[at_.chunk].memory) + at_.used;
    at_.used += size;
    return memory;
  }

  std::vector<Chunk> chunks_;
  Mark at_{0, 0};
  size_t held_ = 0;
};

// What is taken while it lives is given back at its end.
class Scope {
 public:
  explicit Scope(Arena& arena) : arena_(arena), mark_(arena.mark()) {}
  ~Scope() { arena_.rewind(mark_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Arena& arena_;
  Arena::Mark mark_;
};

}  // namespace minform
