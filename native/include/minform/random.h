// Philox4x32-10 (Salmon et al., SC 2011): random numbers by counter, without state. Host and device compute the same.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define MINFORM_HOST_DEVICE __host__ __device__
#else
#define MINFORM_HOST_DEVICE
#endif

namespace minform {

struct RandomCounter {
  uint32_t step, sample;
  uint64_t prompt;
};

// Uniform in [0, 1), 53 bits.
// Static: files that are compiled per instruction-set level must not share a copy.
MINFORM_HOST_DEVICE static inline double uniformAt(uint64_t seed, const RandomCounter& at) {
  uint32_t c[4] = {at.step, at.sample, static_cast<uint32_t>(at.prompt), static_cast<uint32_t>(at.prompt >> 32)};
  uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; round++) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    const uint32_t next[4] = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b),
                              static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(a)};
    for (int i = 0; i < 4; i++) c[i] = next[i];
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return static_cast<double>((static_cast<uint64_t>(c[0]) << 21) ^ (c[1] >> 11)) * 0x1p-53;
}

}  // namespace minform
