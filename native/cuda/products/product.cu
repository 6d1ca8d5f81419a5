// Which way a product goes.
#include "products/product.h"

namespace minform::cuda {

template <class T>
void multiply(const Product<T>& product, Stream stream) {
  if (product.rows == 0 || product.columns == 0) return;
  if (product.depth > 0 && multiplyByLibrary(product, stream)) return;
  if constexpr (sizeof(T) == sizeof(float)) {
    if (multiplyOnTensorCores(product, stream)) return;
  }
  multiplyPlainly(product, stream);
}

template void multiply(const Product<float>&, Stream);
template void multiply(const Product<double>&, Stream);

Operand linesOf(const Matrix& matrix, int64_t first, bool depthContiguous) {
  const int64_t bytes = bytesOf(matrix.element);
  const char* data = static_cast<const char*>(matrix.data) + first * matrix.columns * bytes;
  const bool packs = matrix.columns * bytes % 16 == 0 && reinterpret_cast<uintptr_t>(data) % 16 == 0;
  return {data, matrix.element, matrix.columns, depthContiguous, packs};
}

}  // namespace minform::cuda
