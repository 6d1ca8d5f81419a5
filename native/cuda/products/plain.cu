// Products in float32 or float64 on the ordinary units, of operands of any type. A thread keeps 8 x 8 (float64: 4 x 4)
// elements of the output in registers; per step of the depth it needs 16 elements from shared memory for 64 products.
// The next 16 of the depth are read into registers while the current ones are multiplied.
#include <type_traits>

#include "any_elements.h"
#include "products/blocks.h"

namespace minform::cuda {
namespace {

constexpr int kDepthStep = 16, kBlockDepth = 256;  // products that are added before they join the sum
constexpr int kSide = 16, kBlockThreads = kSide * kSide;

__device__ __forceinline__ float multiplyAdd(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ double multiplyAdd(double a, double b, double c) { return fma(a, b, c); }

// What a thread fetches of one operand for one step, and where it puts it: shared memory is [depth][wide].
template <class T>
struct FetchedOperand {
  static constexpr int kPack = Pack<T>::kSize, kWide = 2 * kSide * kPack, kLeading = kWide + kPack;
  static constexpr int kElements = kDepthStep * kLeading, kPacks = kWide * kDepthStep / kPack / kBlockThreads;

  AnyElements<T> data;
  int64_t leading, wide;
  bool depthContiguous, packs;

  FetchedOperand(const Operand& operand, int64_t wide)
      : data(operand.data, operand.element),
        leading(operand.leading),
        wide(wide),
        depthContiguous(operand.depthContiguous),
        packs(operand.packs) {}

  // The place of a thread's pack: its first depth and line across.
  __device__ __forceinline__ int depthOf(int pack) const {
    const int p = pack * kBlockThreads + static_cast<int>(threadIdx.x);
    return depthContiguous ? p % (kDepthStep / kPack) * kPack : p / (kWide / kPack);
  }
  __device__ __forceinline__ int acrossOf(int pack) const {
    const int p = pack * kBlockThreads + static_cast<int>(threadIdx.x);
    return depthContiguous ? p / (kDepthStep / kPack) : p % (kWide / kPack) * kPack;
  }

  __device__ __forceinline__ void fetch(int64_t first, int64_t k, int64_t depthEnd, Pack<T> (&to)[kPacks]) const {
#pragma unroll
    for (int p = 0; p < kPacks; p++) {
      const int64_t depth = k + depthOf(p), across = first + acrossOf(p);
      const int64_t line = depthContiguous ? across : depth, column = depthContiguous ? depth : across;
      const int64_t lines = depthContiguous ? wide : depthEnd, length = depthContiguous ? depthEnd : wide;
      const int64_t start = line * leading;
      to[p] = data.pack(start + column, line < lines ? start + length : 0, packs);
    }
  }

  __device__ __forceinline__ void store(const Shared<T>& stage, const Pack<T> (&from)[kPacks]) const {
#pragma unroll
    for (int p = 0; p < kPacks; p++) {
      const int at = depthOf(p) * kLeading + acrossOf(p);
      if (depthContiguous) {
#pragma unroll
        for (int i = 0; i < kPack; i++) stage[at + i * kLeading] = from[p].at[i];
      } else {
        storeShared<Pack<T>, T>(stage, at, from[p]);
      }
    }
  }
};

template <class T>
struct MultiplyPlain {
  static constexpr int kThreads = kBlockThreads;
  using Fetched = FetchedOperand<T>;
  static constexpr int kPack = Pack<T>::kSize, kWide = Fetched::kWide, kEach = 2 * kPack;
  Fetched a, b;
  int64_t depth;
  BlockGrid grid;
  BlockOutput<T> output;

  // A thread's rows are two packs, kWide / 2 apart, and so are its columns: neighbours read neighbouring packs.
  __device__ __forceinline__ static void load(const Shared<T>& line, int place, T (&to)[kEach]) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const Pack<T> pack = loadShared<Pack<T>, T>(line, half * (kWide / 2) + place * kPack);
#pragma unroll
      for (int i = 0; i < kPack; i++) to[half * kPack + i] = pack.at[i];
    }
  }

  __device__ void operator()() const {
    SHARED(T, stages, 4 * Fetched::kElements);
    const BlockGrid::At at = grid.at();
    const int64_t row = at.row * kWide, column = at.column * kWide, begin = at.split * grid.depthPerSplit;
    const int64_t end = begin + grid.depthPerSplit < depth ? begin + grid.depthPerSplit : depth;
    const int down = static_cast<int>(threadIdx.x) / kSide, across = static_cast<int>(threadIdx.x) % kSide;
    T sums[kEach][kEach] = {}, block[kEach][kEach] = {};
    Pack<T> nextA[Fetched::kPacks], nextB[Fetched::kPacks];
    a.fetch(row, begin, end, nextA);
    b.fetch(column, begin, end, nextB);
    int stage = 0;
    for (int64_t k = begin; k < end; k += kDepthStep) {
      const Shared<T> stageA = stages + stage * 2 * Fetched::kElements, stageB = stageA + Fetched::kElements;
      a.store(stageA, nextA);
      b.store(stageB, nextB);
      __syncthreads();  // one is enough: the other stage is written only when all have passed the next
      stage ^= 1;
      a.fetch(row, k + kDepthStep, end, nextA);
      b.fetch(column, k + kDepthStep, end, nextB);
#pragma unroll
      for (int step = 0; step < kDepthStep; step++) {
        T left[kEach], right[kEach];
        load(stageA + step * Fetched::kLeading, down, left);
        load(stageB + step * Fetched::kLeading, across, right);
#pragma unroll
        for (int i = 0; i < kEach; i++) {
#pragma unroll
          for (int j = 0; j < kEach; j++) block[i][j] = multiplyAdd(left[i], right[j], block[i][j]);
        }
      }
      if ((k + kDepthStep - begin) % kBlockDepth != 0 && k + kDepthStep < end) continue;
#pragma unroll
      for (int i = 0; i < kEach; i++) {
#pragma unroll
        for (int j = 0; j < kEach; j++) {
          sums[i][j] += block[i][j];
          block[i][j] = 0;
        }
      }
    }
    const T factor = output.factor();
#pragma unroll
    for (int i = 0; i < kEach; i++) {
#pragma unroll
      for (int half = 0; half < 2; half++) {
        Pack<T> pack;
#pragma unroll
        for (int j = 0; j < kPack; j++) pack.at[j] = sums[i][half * kPack + j];
        output.write(at.split, row + i / kPack * (kWide / 2) + down * kPack + i % kPack,
                     column + half * (kWide / 2) + across * kPack, factor, pack);
      }
    }
  }
};

}  // namespace

template <class T>
void multiplyPlainly(const Product<T>& product, Stream stream) {
  using Kernel = MultiplyPlain<T>;
  const BlockGrid grid = gridOf(product, Kernel::kWide, Kernel::kWide, kBlockDepth);
  runBlocks(product, grid, stream, [&](const BlockOutput<T>& output) {
    launch(Kernel{{product.a, product.rows}, {product.b, product.columns}, product.depth, grid, output},
           {grid.blocks(), Kernel::kThreads}, stream);
  });
}

template void multiplyPlainly(const Product<float>&, Stream);
template void multiplyPlainly(const Product<double>&, Stream);

}  // namespace minform::cuda
