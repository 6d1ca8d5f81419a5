// Products of bfloat16 or float16 operands on tensor cores. A block keeps its part of the output in the fragments of
// its warps and walks the depth 32 at a time through a ring of three stages in shared memory: while the warps multiply
// one, the copies of the next two are under way.
//
// Two shapes. 128 x 256 by 8 warps of 64 x 64 each: a warp reads 4 KB of shared memory per 64 x 64 x 16 products, which
// an SM's 128 bytes per cycle serve in 32 cycles, as long as sm_90's tensor cores would take at their full rate; a
// block reads 24 KB of level-2 cache per 128 x 256 x 32 products, where 128 x 128 would need a third more. Three stages
// of 30 KB leave one block per SM on every architecture with 99 KB (8.6, 8.9) and more. 64 x 64 by 4 warps is for
// outputs too small to give every SM one of those, and for sm_75. mma.sync, which wmma compiles to, reaches about 60%
// of what wgmma does on sm_90: there cuBLASLt, found at run time, does the large products.
#include "fragments.h"
#include "products/blocks.h"

namespace minform::cuda {
namespace {

constexpr int kDepthStep = 32, kStages = 3;

template <int kWarpsDown, int kWarpsAcross, int kDown, int kAcross>
struct BlockShape {
  static constexpr int kThreads = kWarpsDown * kWarpsAcross * kWarp;
  static constexpr int kAcrossWarps = kWarpsAcross, kTilesDown = kDown, kTilesAcross = kAcross;
  static constexpr int kRows = kWarpsDown * kDown * kFragment, kColumns = kWarpsAcross * kAcross * kFragment;
};
using LargeBlock = BlockShape<2, 4, 4, 4>;
using SmallBlock = BlockShape<2, 2, 2, 2>;

// The lines of one operand that a block needs for one step of the depth, in shared memory. Eight more elements per line
// keep the rows that a fragment gathers on different banks.
template <class Element, int kWide, bool DepthContiguous, int kThreads>
struct StagedOperand {
  static constexpr int kLines = DepthContiguous ? kWide : kDepthStep, kLength = DepthContiguous ? kDepthStep : kWide;
  static constexpr int kLeading = kLength + 8, kElements = kLines * kLeading;

  Global<const Element> data;
  int64_t leading, wide;
  bool packs;

  StagedOperand(const Operand& operand, int64_t wide)
      : data(static_cast<const Element*>(operand.data)), leading(operand.leading), wide(wide), packs(operand.packs) {}

  __device__ __forceinline__ void fill(const Shared<Element>& stage, int64_t first, int64_t k, int64_t depthEnd) const {
    constexpr int kPack = Pack<Element>::kSize, kPacksPerLine = kLength / kPack;
    const int64_t line0 = DepthContiguous ? first : k, column0 = DepthContiguous ? k : first;
    const int64_t lineEnd = DepthContiguous ? wide : depthEnd, columnEnd = DepthContiguous ? depthEnd : wide;
#pragma unroll
    for (int p = 0; p < kLines * kPacksPerLine / kThreads; p++) {
      const int pack = p * kThreads + static_cast<int>(threadIdx.x), line = pack / kPacksPerLine;
      const int column = pack % kPacksPerLine * kPack, at = line * kLeading + column;
      const bool inside = line0 + line < lineEnd && column0 + column < columnEnd;
      const int64_t index = (line0 + line) * leading + column0 + column;
      if (packs) {
        startCopy<Element>(stage, at, data, index, inside);
      } else {
        const int64_t end = inside ? index + (columnEnd - column0 - column) : index;
        storeShared<Pack<Element>, Element>(stage, at, readPack(data, index, end, false, Element{0}));
      }
    }
  }
};

template <class Element, bool DepthA, bool DepthB, class Shape>
struct MultiplyBlock {
  static constexpr int kThreads = Shape::kThreads;
  using A = StagedOperand<Element, Shape::kRows, DepthA, kThreads>;
  using B = StagedOperand<Element, Shape::kColumns, DepthB, kThreads>;
  using LayoutA = std::conditional_t<DepthA, wmma::row_major, wmma::col_major>;
  using LayoutB = std::conditional_t<DepthB, wmma::col_major, wmma::row_major>;
  static constexpr int kStage = A::kElements + B::kElements;
  // Each warp passes its fragments through a patch of shared memory when the stages are done with.
  static constexpr int kPatchLeading = Shape::kTilesAcross * kFragment + 4, kPatch = kFragment * kPatchLeading;
  static constexpr size_t kSharedBytes = size_t{kStages} * kStage * sizeof(Element);
  static_assert(kThreads / kWarp * kPatch * sizeof(float) <= kSharedBytes, "patches fit where the stages were");

  A a;
  B b;
  int64_t depth;
  BlockGrid grid;
  BlockOutput<float> output;

  __device__ void operator()() const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    if constexpr (std::is_same_v<Element, Bfloat16>) {
      __trap();
    } else {
      run();
    }
#else
    run();
#endif
  }

  __device__ __forceinline__ void run() const {
    DYNAMIC_SHARED(Element, stages, 0, kStages * kStage);
    const BlockGrid::At at = grid.at();
    const int64_t row = at.row * Shape::kRows, column = at.column * Shape::kColumns;
    const int64_t begin = at.split * grid.depthPerSplit;
    const int64_t end = begin + grid.depthPerSplit < depth ? begin + grid.depthPerSplit : depth;
    const int steps = static_cast<int>((end - begin + kDepthStep - 1) / kDepthStep);
    const int warpRow = warpIndex() / Shape::kAcrossWarps * Shape::kTilesDown * kFragment;
    const int warpColumn = warpIndex() % Shape::kAcrossWarps * Shape::kTilesAcross * kFragment;
    const auto fill = [&](int step) {
      const int stage = step % kStages * kStage;
      a.fill(stages + stage, row, begin + step * kDepthStep, end);
      b.fill(stages + stage + A::kElements, column, begin + step * kDepthStep, end);
    };

    Accumulator sums[Shape::kTilesDown][Shape::kTilesAcross];
#pragma unroll
    for (int i = 0; i < Shape::kTilesDown; i++) {
#pragma unroll
      for (int j = 0; j < Shape::kTilesAcross; j++) wmma::fill_fragment(sums[i][j], 0.0f);
    }
    for (int step = 0; step < kStages - 1; step++) {
      if (step < steps) fill(step);
      commitCopies();
    }
    for (int step = 0; step < steps; step++) {
      waitCopies<kStages - 2>();
      __syncthreads();  // this stage is there, and all warps are done with the one that is filled next
      if (step + kStages - 1 < steps) fill(step + kStages - 1);
      commitCopies();
      multiplyStage(stages + step % kStages * kStage, warpRow, warpColumn, sums);
    }
    waitCopies<0>();
    __syncthreads();
    write(at.split, row + warpRow, column + warpColumn, sums);
  }

  __device__ __forceinline__ void multiplyStage(const Shared<Element>& stage, int warpRow, int warpColumn,
                                                Accumulator (&sums)[Shape::kTilesDown][Shape::kTilesAcross]) const {
    // Steps of 16 along the depth whose loads may overlap. With bfloat16 lines across the depth on both sides, two in
    // the large block take more than the 255 registers a thread can have.
    constexpr bool kCrowded = std::is_same_v<Element, Bfloat16> && !DepthA && std::is_same_v<Shape, LargeBlock>;
    [[maybe_unused]] constexpr int kOverlap = kCrowded ? 1 : kDepthStep / kFragment;
#pragma unroll kOverlap
    for (int k = 0; k < kDepthStep; k += kFragment) {
      FragmentA<Element, LayoutA> left[Shape::kTilesDown];
#pragma unroll
      for (int i = 0; i < Shape::kTilesDown; i++) {
        const int line = warpRow + i * kFragment, from = DepthA ? line * A::kLeading + k : k * A::kLeading + line;
        wmma::load_matrix_sync(left[i], hardwarePointer(stage + from), A::kLeading);
      }
#pragma unroll
      for (int j = 0; j < Shape::kTilesAcross; j++) {
        FragmentB<Element, LayoutB> right;
        const int line = warpColumn + j * kFragment, from = DepthB ? line * B::kLeading + k : k * B::kLeading + line;
        wmma::load_matrix_sync(right, hardwarePointer(stage + A::kElements + from), B::kLeading);
#pragma unroll
        for (int i = 0; i < Shape::kTilesDown; i++) wmma::mma_sync(sums[i][j], left[i], right, sums[i][j]);
      }
    }
  }

  __device__ __forceinline__ void write(int64_t split, int64_t row, int64_t column,
                                        const Accumulator (&sums)[Shape::kTilesDown][Shape::kTilesAcross]) const {
    DYNAMIC_SHARED(float, patches, 0, kThreads / kWarp * kPatch);
    const Shared<float> patch = patches + warpIndex() * kPatch;
    const float factor = output.factor();
#pragma unroll
    for (int i = 0; i < Shape::kTilesDown; i++) {
#pragma unroll
      for (int j = 0; j < Shape::kTilesAcross; j++) {
        wmma::store_matrix_sync(patch + j * kFragment, sums[i][j], kPatchLeading, wmma::mem_row_major);
      }
      __syncwarp();
      constexpr int kPacks = Shape::kTilesAcross * kFragment / Pack<float>::kSize;  // per line
#pragma unroll 1
      for (int pack = laneIndex(); pack < kFragment * kPacks; pack += kWarp) {
        const int line = pack / kPacks, place = pack % kPacks * Pack<float>::kSize;
        output.write(split, row + i * kFragment + line, column + place, factor,
                     loadShared<Pack<float>, float>(patch, line * kPatchLeading + place));
      }
      __syncwarp();
    }
  }
};

template <class Element, bool DepthA, bool DepthB, class Shape>
void start(const Product<float>& product, Stream stream) {
  using Kernel = MultiplyBlock<Element, DepthA, DepthB, Shape>;
  const BlockGrid grid = gridOf(product, Shape::kRows, Shape::kColumns, kDepthStep);
  runBlocks(product, grid, stream, [&](const BlockOutput<float>& output) {
    launch(Kernel{{product.a, product.rows}, {product.b, product.columns}, product.depth, grid, output},
           {grid.blocks(), Kernel::kThreads, Kernel::kSharedBytes}, stream);
  });
}

template <class Element, bool DepthA, bool DepthB>
void chooseShape(const Product<float>& product, Stream stream) {
  const DeviceLimits device = limits();
  const int64_t large = ceilDivide(product.rows, LargeBlock::kRows) * ceilDivide(product.columns, LargeBlock::kColumns);
  const size_t needed = MultiplyBlock<Element, DepthA, DepthB, LargeBlock>::kSharedBytes;
  if (large >= device.multiprocessors && needed <= device.sharedBytesPerBlock) {
    start<Element, DepthA, DepthB, LargeBlock>(product, stream);
  } else {
    start<Element, DepthA, DepthB, SmallBlock>(product, stream);
  }
}

template <class Element>
void chooseOrder(const Product<float>& product, Stream stream) {
  if (product.a.depthContiguous && product.b.depthContiguous) {
    chooseShape<Element, true, true>(product, stream);
  } else if (product.a.depthContiguous) {
    chooseShape<Element, true, false>(product, stream);
  } else {
    chooseShape<Element, false, false>(product, stream);
  }
}

}  // namespace

bool multiplyOnTensorCores(const Product<float>& product, Stream stream) {
  const Element element = product.a.element;
  if (element != product.b.element || (!product.a.depthContiguous && product.b.depthContiguous)) return false;
  if (element == Element::float16) {
    chooseOrder<Float16>(product, stream);
    return true;
  }
  if (element != Element::bfloat16 || limits().major < 8) return false;
  chooseOrder<Bfloat16>(product, stream);
  return true;
}

}  // namespace minform::cuda
