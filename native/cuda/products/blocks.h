// How a product is cut into blocks of its output and, where it may be, of its depth.
#pragma once

#include "elements.h"
#include "products/product.h"

namespace minform::cuda {

// Blocks go down groups of kGroup block rows, column by column: those that run at a time share lines of both operands
// in the cache.
struct BlockGrid {
  static constexpr int64_t kGroup = 8;
  int64_t down, across, splits, depthPerSplit;

  struct At {
    int64_t row, column, split;  // of blocks
  };

  int64_t blocks() const { return down * across * splits; }

  __device__ __forceinline__ At at() const {
    const int64_t tile = blockIdx.x % (down * across), first = tile / (kGroup * across) * kGroup;
    const int64_t inGroup = tile % (kGroup * across), rows = down - first < kGroup ? down - first : kGroup;
    return {first + inGroup % rows, inGroup / rows, blockIdx.x / (down * across)};
  }
};

// `step` is the depth that blocks take at a time.
template <class T>
BlockGrid gridOf(const Product<T>& product, int64_t blockRows, int64_t blockColumns, int64_t step) {
  constexpr int64_t kLeastDepth = 1024, kPlaneBytes = int64_t{16} << 20;
  BlockGrid grid{ceilDivide(product.rows, blockRows), ceilDivide(product.columns, blockColumns), 1, product.depth};
  if (!product.split || grid.blocks() == 0) return grid;
  const int64_t planeBytes = product.rows * product.columns * static_cast<int64_t>(sizeof(T));
  const int64_t idle = 2 * limits().multiprocessors / grid.blocks();
  const int64_t most = idle < product.depth / kLeastDepth ? idle : product.depth / kLeastDepth;
  const int64_t splits = most < kPlaneBytes / planeBytes ? most : kPlaneBytes / planeBytes;
  if (splits < 2) return grid;
  grid.depthPerSplit = ceilDivide(ceilDivide(product.depth, splits), step) * step;
  grid.splits = ceilDivide(product.depth, grid.depthPerSplit);
  return grid;
}

// Where blocks write: the output, or a plane per split.
template <class T>
struct BlockOutput {
  Global<T> out;
  int64_t rows, columns, leading, planeSize;
  bool accumulate, packs;
  Global<const float> scale;

  BlockOutput(const Product<T>& product, T* planes)
      : out(planes != nullptr ? planes : product.out),
        rows(product.rows),
        columns(product.columns),
        leading(planes != nullptr ? product.columns : product.leading),
        planeSize(planes != nullptr ? product.rows * product.columns : 0),
        accumulate(planes == nullptr && product.accumulate),
        packs(leading % Pack<T>::kSize == 0 &&
              reinterpret_cast<uintptr_t>(planes != nullptr ? planes : product.out) % 16 == 0 &&
              planeSize % Pack<T>::kSize == 0),
        scale(product.scale) {}

  __device__ __forceinline__ T factor() const { return scale == nullptr ? T(1) : static_cast<T>(scale[0]); }

  __device__ __forceinline__ void write(int64_t split, int64_t row, int64_t column, T factor, Pack<T> pack) const {
    if (row >= rows || column >= columns) return;
    const int64_t line = split * planeSize + row * leading, end = line + columns;
#pragma unroll
    for (int i = 0; i < Pack<T>::kSize; i++) pack.at[i] *= factor;
    if (accumulate) {
      const Pack<T> before = readPack<T>(out, line + column, end, packs, T(0));
#pragma unroll
      for (int i = 0; i < Pack<T>::kSize; i++) pack.at[i] += before.at[i];
    }
    writePack(out, line + column, end, packs, pack);
  }
};

template <class T>
struct AddPlanes {
  static constexpr int kThreads = 256;
  Global<const T> planes;
  Global<T> out;
  int64_t rows, columns, leading, splits;
  bool accumulate;

  __device__ void operator()() const {
    const int64_t i = elementOfThread();
    if (i >= rows * columns) return;
    const int64_t at = i / columns * leading + i % columns;
    T sum = planes[i];
    for (int64_t split = 1; split < splits; split++) sum += planes[split * rows * columns + i];
    out[at] = accumulate ? static_cast<T>(out[at]) + sum : sum;
  }
};

// Calls start(output) for blocks that write the product or, of a cut depth, planes that are then added in order.
template <class T, class Start>
void runBlocks(const Product<T>& product, const BlockGrid& grid, Stream stream, const Start& start) {
  if (grid.splits == 1) {
    start(BlockOutput<T>(product, nullptr));
    return;
  }
  const Buffer<T> planes(grid.splits * product.rows * product.columns, stream);
  start(BlockOutput<T>(product, planes.get()));
  launch(AddPlanes<T>{planes.get(), product.out, product.rows, product.columns, product.leading, grid.splits,
                      product.accumulate},
         threadPerElement(product.rows * product.columns, AddPlanes<T>::kThreads), stream);
}

}  // namespace minform::cuda
