// The CUDA intrinsics that kernels use, for the emulator.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "block.h"
#include "views.h"

#define SIMT_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(SIMT_HERE) { simt::block().barrier({file, line}); }

inline void __syncwarp(uint32_t mask = 0xFFFFFFFFu, SIMT_HERE) {
  simt::WarpCall call{mask, {file, line}, [](simt::WarpCall* const*, uint32_t) {}, nullptr, nullptr, 0, 0};
  simt::block().warpCall(call);
}

namespace simt {

// From which lane `lane` reads; itself when the source falls outside its segment of `width` lanes.
enum class Shuffle { index, up, down, exclusiveOr };
template <Shuffle Kind>
int sourceLane(int lane, int argument, int width) {
  const int first = lane / width * width, last = first + width - 1;
  int source = lane;
  if (Kind == Shuffle::index) source = first + (argument & (width - 1));
  if (Kind == Shuffle::up) source = lane - argument;
  if (Kind == Shuffle::down) source = lane + argument;
  if (Kind == Shuffle::exclusiveOr) source = lane ^ argument;
  return source < first || source > last ? lane : source;
}

template <Shuffle Kind, class T>
T shuffle(uint32_t mask, T value, int argument, int width, Site site) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles move 4 or 8 bytes");
  T result{};
  WarpCall call{mask,
                site,
                [](WarpCall* const lanes[kWarpLanes], uint32_t in) {
                  for (int lane = 0; lane < kWarpLanes; lane++) {
                    if ((in >> lane & 1) == 0) continue;
                    const int source = sourceLane<Kind>(lane, lanes[lane]->argument, lanes[lane]->width);
                    if ((in >> source & 1) == 0) {
                      block().fail(FaultKind::warpMask,
                                   "shuffle from lane " + std::to_string(source) + ", which is not in the mask");
                    }
                    *static_cast<T*>(lanes[lane]->out) = *static_cast<const T*>(lanes[source]->in);
                  }
                },
                &value,
                &result,
                argument,
                width};
  block().warpCall(call);
  return result;
}

inline uint32_t ballot(uint32_t mask, int predicate, Site site) {
  uint32_t result = 0;
  WarpCall call{mask,
                site,
                [](WarpCall* const lanes[kWarpLanes], uint32_t in) {
                  uint32_t votes = 0;
                  for (int lane = 0; lane < kWarpLanes; lane++) {
                    if ((in >> lane & 1) != 0 && *static_cast<const int*>(lanes[lane]->in) != 0) votes |= 1u << lane;
                  }
                  for (int lane = 0; lane < kWarpLanes; lane++) {
                    if ((in >> lane & 1) != 0) *static_cast<uint32_t*>(lanes[lane]->out) = votes;
                  }
                },
                &predicate,
                &result,
                0,
                0};
  block().warpCall(call);
  return result;
}

}  // namespace simt

template <class T>
T __shfl_sync(uint32_t mask, T value, int lane, int width = 32, SIMT_HERE) {
  return simt::shuffle<simt::Shuffle::index>(mask, value, lane, width, {file, line});
}
template <class T>
T __shfl_up_sync(uint32_t mask, T value, unsigned by, int width = 32, SIMT_HERE) {
  return simt::shuffle<simt::Shuffle::up>(mask, value, static_cast<int>(by), width, {file, line});
}
template <class T>
T __shfl_down_sync(uint32_t mask, T value, unsigned by, int width = 32, SIMT_HERE) {
  return simt::shuffle<simt::Shuffle::down>(mask, value, static_cast<int>(by), width, {file, line});
}
template <class T>
T __shfl_xor_sync(uint32_t mask, T value, int with, int width = 32, SIMT_HERE) {
  return simt::shuffle<simt::Shuffle::exclusiveOr>(mask, value, with, width, {file, line});
}

inline uint32_t __ballot_sync(uint32_t mask, int predicate, SIMT_HERE) {
  return simt::ballot(mask, predicate, {file, line});
}
inline int __any_sync(uint32_t mask, int predicate, SIMT_HERE) {
  return simt::ballot(mask, predicate, {file, line}) != 0;
}
inline int __all_sync(uint32_t mask, int predicate, SIMT_HERE) {
  return simt::ballot(mask, predicate, {file, line}) == mask;
}

inline int __popc(uint32_t bits) { return __builtin_popcount(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __clz(int bits) { return bits == 0 ? 32 : __builtin_clz(static_cast<unsigned>(bits)); }
