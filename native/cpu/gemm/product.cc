#include "gemm/product.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

constexpr int64_t kRows = 16 * kTileRows;            // a block of the left operand stays in the second-level cache
constexpr int64_t kColumns = 64;                     // at least so many columns per unit of work
constexpr int64_t kPackedBytes = int64_t{16} << 20;  // of a right operand that is packed for one product

// How the result is cut into units of work.
struct Units {
  int64_t rowsEach, columnsEach, acrossRows, acrossColumns;

  Units(int64_t rows, int64_t columns, int64_t panel) {
    const int64_t wanted = 2 * numThreads();
    rowsEach = smaller(kRows, rows);
    acrossRows = (rows + rowsEach - 1) / rowsEach;
    const int64_t pieces = larger<int64_t>(1, smaller((wanted + acrossRows - 1) / acrossRows, columns / kColumns));
    columnsEach = ((columns + pieces - 1) / pieces + panel - 1) / panel * panel;
    acrossColumns = (columns + columnsEach - 1) / columnsEach;
  }
  int64_t count() const { return acrossRows * acrossColumns; }
};

}  // namespace

template <class T>
void packRight(const Operand<T>& right, int64_t depth, int64_t columns, T* packed) {
  constexpr int64_t kPanelsEach = 8;
  const int64_t panels = panelsOf<T>(columns), blocks = (depth + kDepth - 1) / kDepth;
  const int64_t pieces = (panels + kPanelsEach - 1) / kPanelsEach;
  parallel(blocks * pieces, [&](int64_t unit) {
    const int64_t k = unit / pieces * kDepth, deep = smaller(kDepth, depth - k);
    const int64_t last = smaller(panels, (unit % pieces + 1) * kPanelsEach);
    for (int64_t panel = unit % pieces * kPanelsEach; panel < last; panel++) {
      const int64_t j = panel * kPanel<T>, width = smaller(kPanel<T>, columns - j);
      T* to = packed + panelElements<T>(k, columns) + j * deep;
      if (right.transposed) {
        panelFromRows(right.at(k, j), right.stride, width, deep, to);
      } else {
        panelFromColumns(right.at(k, j), right.stride, width, deep, to);
      }
    }
  });
}

template <class T>
void multiplyPacked(const Product<T>& p, const T* packed) {
  const Units units(p.rows, p.columns, kPanel<T>);
  parallel(units.count(), [&](int64_t unit) {
    const int64_t row = unit % units.acrossRows * units.rowsEach, column = unit / units.acrossRows * units.columnsEach;
    Block<T> block{};
    block.rows = smaller(units.rowsEach, p.rows - row);
    block.columns = smaller(units.columnsEach, p.columns - column);
    block.out = p.out + row * p.outStride + column;
    block.outStride = p.outStride;
    block.start = p.start == nullptr ? nullptr : p.start + row * p.startStride + column;
    block.startStride = p.startStride;
    Scratch<T> interleaved(p.left.transposed ? kRows * kDepth : 0);
    for (int64_t k = 0; k < p.depth; k += kDepth) {
      block.depth = smaller(kDepth, p.depth - k);
      block.left = p.left.at(row, k);
      block.leftStride = p.left.stride;
      if (p.left.transposed) {
        interleaveColumns(block.left, p.left.stride, block.rows, block.depth, interleaved.get());
        block.left = interleaved.get();
        block.leftStride = 0;
      }
      block.panels = packed + panelElements<T>(k, p.columns) + column * block.depth;
      multiplyBlock(block);
      block.start = block.out;
      block.startStride = block.outStride;
    }
  });
}

template <class T>
void multiply(const Product<T>& product, const Operand<T>& right) {
  const int64_t most = kPackedBytes / static_cast<int64_t>(sizeof(T)) / panelElements<T>(1, product.columns);
  const int64_t deep = larger(kDepth, most / kDepth * kDepth);
  Scratch<T> packed(panelElements<T>(smaller(deep, product.depth), product.columns));
  Product<T> part = product;
  for (int64_t k = 0; k < product.depth; k += deep) {
    part.depth = smaller(deep, product.depth - k);
    part.left.data = product.left.at(0, k);
    packRight({right.at(k, 0), right.stride, right.transposed}, part.depth, product.columns, packed.get());
    multiplyPacked(part, packed.get());
    part.start = part.out;
    part.startStride = part.outStride;
  }
}

#define MINFORM_INSTANTIATE(T)                                      \
  template void packRight(const Operand<T>&, int64_t, int64_t, T*); \
  template void multiplyPacked(const Product<T>&, const T*);        \
  template void multiply(const Product<T>&, const Operand<T>&);
MINFORM_INSTANTIATE(float)
MINFORM_INSTANTIATE(double)
#undef MINFORM_INSTANTIATE

}  // namespace MINFORM_ISA
}  // namespace minform
