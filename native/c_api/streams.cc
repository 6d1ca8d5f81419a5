// The part of the advantage family that combines values: whitening, streams of rewards.
#include "call.h"
#include "minform/advantage.h"
#include "minform/cuda/advantage.h"

using namespace minform;
using namespace minform::c;

minform_error minform_whiten(const minform_call* call, minform_dtype dtype, int32_t shift_mean, double epsilon,
                             int32_t ddof, int64_t count, const void* values, const uint8_t* mask, void* out) {
  return guarded([&] {
    require(epsilon >= 0, "epsilon: expected a number >= 0");
    require(ddof == 0 || ddof == 1, "ddof: expected 0 or 1");
    require(count >= 0 && count <= 2147483647, "count: expected a count below 2^31");
    require(values != nullptr && out != nullptr, "values, out: expected memory, got NULL");
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const WhitenRule rule{shift_mean != 0, epsilon, ddof};
      const T* from = static_cast<const T*>(values);
      T* to = static_cast<T*>(out);
      return run(
          call, [&] { return advantage<T>().whiten(rule, count, from, mask, to); },
          [&](auto status, auto stream) { cuda::advantageWhiten(rule, count, from, mask, to, status, stream); });
    });
  });
}

minform_error minform_add_per_row(const minform_call* call, minform_dtype dtype, minform_spread spread, double scale,
                                  int64_t rows, int64_t total, const int32_t* offsets, const void* base,
                                  const void* per_row, const uint8_t* mask, void* out) {
  return guarded([&] {
    require(spread == MINFORM_ON_LAST || spread == MINFORM_ON_EVERY, "spread: expected a minform_spread");
    require(scale - scale == 0, "scale: expected a finite number");
    require(per_row != nullptr && out != nullptr, "per_row, out: expected memory, got NULL");
    const Rows tokens = rowsOf(call, offsets, rows, total);
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const auto where = static_cast<Spread>(spread);
      const T* onto = static_cast<const T*>(base);
      const T* from = static_cast<const T*>(per_row);
      T* to = static_cast<T*>(out);
      return run(
          call, [&] { return advantage<T>().addPerRow(tokens, onto, from, scale, where, mask, to); },
          [&](auto status, auto stream) {
            cuda::advantageAddPerRow(tokens, onto, from, scale, where, mask, to, status, stream);
          });
    });
  });
}

minform_error minform_code_verifiable(const minform_call* call, minform_dtype dtype, double shift, int64_t rows,
                                      const void* verifiable, void* out) {
  return guarded([&] {
    require(shift - shift == 0, "shift: expected a finite number");
    require(rows >= 0 && rows <= 2147483647, "rows: expected a count below 2^31");
    require(verifiable != nullptr && out != nullptr, "verifiable, out: expected memory, got NULL");
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const T* from = static_cast<const T*>(verifiable);
      T* to = static_cast<T*>(out);
      return run(
          call, [&] { return advantage<T>().codeVerifiable(rows, from, shift, to); },
          [&](auto status, auto stream) { cuda::advantageCodeVerifiable(rows, from, shift, to, status, stream); });
    });
  });
}

minform_error minform_scorable_tokens(const minform_call* call, minform_dtype dtype, int64_t rows, int64_t total,
                                      const int32_t* offsets, const void* rewards, const uint8_t* mask, uint8_t* out) {
  return guarded([&] {
    require(rewards != nullptr && out != nullptr, "rewards, out: expected memory, got NULL");
    const Rows tokens = rowsOf(call, offsets, rows, total);
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const T* from = static_cast<const T*>(rewards);
      return run(
          call, [&] { return advantage<T>().scorableTokens(tokens, from, mask, out); },
          [&](auto status, auto stream) {
            cuda::resetStatus(status, stream);
            cuda::advantageScorableTokens(tokens, from, mask, out, stream);
          });
    });
  });
}

minform_error minform_kl_reward(const minform_call* call, minform_dtype dtype, double coefficient, int64_t rows,
                                int64_t total, const int32_t* offsets, const void* rewards, const void* kl,
                                const uint8_t* mask, void* out) {
  return guarded([&] {
    require(coefficient - coefficient == 0, "coefficient: expected a finite number");
    require(rewards != nullptr && kl != nullptr && out != nullptr, "rewards, kl, out: expected memory, got NULL");
    const Rows tokens = rowsOf(call, offsets, rows, total);
    return byFloat(dtype, [&](auto kind) {
      using T = decltype(kind);
      const T* from = static_cast<const T*>(rewards);
      const T* penalty = static_cast<const T*>(kl);
      T* to = static_cast<T*>(out);
      return run(
          call, [&] { return advantage<T>().klReward(tokens, from, penalty, coefficient, mask, to); },
          [&](auto status, auto stream) {
            cuda::advantageKlReward(total, from, penalty, coefficient, mask, to, status, stream);
          });
    });
  });
}
