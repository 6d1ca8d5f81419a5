// Rows of a table by index, and gradients back to them.
#include "model/family.h"

namespace minform {
namespace MINFORM_ISA {

template <class T>
void gatherRows(const T* table, const int32_t* index, int64_t count, int64_t width, T* out) {
  parallelChunks(count, width, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i++) {
      __builtin_memcpy(out + i * width, table + index[i] * width, static_cast<size_t>(width) * sizeof(T));
    }
  });
}

// Units are columns: two rows may have the same index.
template <class T>
void scatterAddRows(const T* rows, const int32_t* index, int64_t count, int64_t width, T* table) {
  constexpr int64_t kColumns = 64;
  parallel((width + kColumns - 1) / kColumns, [&](int64_t unit) {
    const int64_t first = unit * kColumns, columns = smaller(kColumns, width - first);
    for (int64_t i = 0; i < count; i++) {
      const T* from = rows + i * width + first;
      T* to = table + index[i] * width + first;
      for (int64_t j = 0; j < columns; j++) to[j] += from[j];
    }
  });
}

#define MINFORM_INSTANTIATE(T)                                              \
  template void gatherRows(const T*, const int32_t*, int64_t, int64_t, T*); \
  template void scatterAddRows(const T*, const int32_t*, int64_t, int64_t, T*);
MINFORM_INSTANTIATE(float)
MINFORM_INSTANTIATE(double)
#undef MINFORM_INSTANTIATE

}  // namespace MINFORM_ISA
}  // namespace minform
