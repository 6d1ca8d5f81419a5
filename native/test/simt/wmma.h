// Warp-level matrix fragments for the emulator. Which lane holds which element is this file's choice, as it is the
// hardware's on a GPU: kernels must not depend on it. Products are exact in float32 and are added in rising order.
#pragma once

#include "elements.h"
#include "intrinsics.h"

namespace simt::wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  static_assert(M == 16 && N == 16 && K == 16, "the tile that every architecture has");
  static constexpr int num_elements = 16 * 16 / kWarpLanes;
  T x[num_elements];
};

// Element e of a tile, in the order of its rows, is x[e / 32] of lane e % 32.
inline int elementOf(int slot) { return slot * kWarpLanes + static_cast<int>(threadIdx.x) % kWarpLanes; }

template <bool RowMajor>
int64_t addressOf(int element, unsigned leading) {
  const int row = element / 16, column = element % 16;
  return RowMajor ? int64_t{row} * leading + column : int64_t{column} * leading + row;
}

template <class Use, class T, class Layout>
void fill_fragment(fragment<Use, 16, 16, 16, T, Layout>& to, T value) {
  for (T& x : to.x) x = value;
}

// Reads and writes need all lanes at once, as __syncwarp does; the race check orders nothing by them.
template <class Use, class T, class Layout, class View>
void load_matrix_sync(fragment<Use, 16, 16, 16, T, Layout>& to, const View& from, unsigned leading, SIMT_HERE) {
  ballot(0xFFFFFFFFu, 1, {file, line});
  for (int slot = 0; slot < to.num_elements; slot++) {
    to.x[slot] = from[addressOf<std::is_same_v<Layout, row_major>>(elementOf(slot), leading)];
  }
}

template <class View>
void load_matrix_sync(fragment<accumulator, 16, 16, 16, float>& to, const View& from, unsigned leading, layout_t layout,
                      SIMT_HERE) {
  ballot(0xFFFFFFFFu, 1, {file, line});
  for (int slot = 0; slot < to.num_elements; slot++) {
    const int e = elementOf(slot);
    to.x[slot] = from[layout == mem_row_major ? addressOf<true>(e, leading) : addressOf<false>(e, leading)];
  }
}

template <class View>
void store_matrix_sync(const View& to, const fragment<accumulator, 16, 16, 16, float>& from, unsigned leading,
                       layout_t layout, SIMT_HERE) {
  ballot(0xFFFFFFFFu, 1, {file, line});
  for (int slot = 0; slot < from.num_elements; slot++) {
    const int e = elementOf(slot);
    to[layout == mem_row_major ? addressOf<true>(e, leading) : addressOf<false>(e, leading)] = from.x[slot];
  }
}

template <class T, class LayoutA, class LayoutB>
void mma_sync(fragment<accumulator, 16, 16, 16, float>& d, const fragment<matrix_a, 16, 16, 16, T, LayoutA>& a,
              const fragment<matrix_b, 16, 16, 16, T, LayoutB>& b, const fragment<accumulator, 16, 16, 16, float>& c,
              SIMT_HERE) {
  struct Operands {
    const T *a, *b;
    const float* c;
  };
  const Operands own{a.x, b.x, c.x};
  float result[8];
  WarpCall call{0xFFFFFFFFu,
                {file, line},
                [](WarpCall* const lanes[kWarpLanes], uint32_t) {
                  using minform::cuda::widen;
                  const auto of = [&](int e) { return static_cast<const Operands*>(lanes[e % kWarpLanes]->in); };
                  for (int e = 0; e < 256; e++) {
                    const int row = e / 16, column = e % 16;
                    float sum = of(e)->c[e / kWarpLanes];
                    for (int k = 0; k < 16; k++) {
                      const int at = row * 16 + k, from = k * 16 + column;
                      sum += widen(of(at)->a[at / kWarpLanes]) * widen(of(from)->b[from / kWarpLanes]);
                    }
                    static_cast<float*>(lanes[e % kWarpLanes]->out)[e / kWarpLanes] = sum;
                  }
                },
                &own,
                result,
                0,
                0};
  block().warpCall(call);
  for (int slot = 0; slot < 8; slot++) d.x[slot] = result[slot];
}

}  // namespace simt::wmma
