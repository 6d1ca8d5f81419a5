// Keys and values of earlier tokens, kept in the panels that the products of attention read: per key head
// [keys / panel][headDim][panel], then the values [headDim / panel][capacity][panel].
#include "model/heads.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

template <class T>
struct CachedHead {
  T *keys, *values;

  CachedHead(const HeadShape& shape, T* slot, int64_t kvHead, int64_t capacity) {
    keys = slot + kvHead * capacity * (shape.headDim + panelElements<T>(1, shape.headDim));
    values = keys + capacity * shape.headDim;
  }
};

}  // namespace

template <class T>
int64_t cacheElements(const HeadShape& shape, int64_t capacity) {
  return shape.kvHeads * capacity * (shape.headDim + panelElements<T>(1, shape.headDim));
}

template <class T>
void cacheStore(const HeadShape& shape, int64_t rows, const T* qkv, const int32_t* positions,
                const CacheView<T>& cache) {
  parallelChunks(rows, 2 * shape.keys(), [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; row++) {
      const int64_t position = positions[row];
      for (int64_t kvHead = 0; kvHead < shape.kvHeads; kvHead++) {
        const CachedHead<T> to(shape, cache.slots[row], kvHead, cache.capacity);
        const HeadRows<T> from(shape, qkv + row * shape.width(), kvHead);
        T* keys = to.keys + position / kPanel<T> * kPanel<T> * shape.headDim + position % kPanel<T>;
        for (int64_t d = 0; d < shape.headDim; d++) {
          keys[d * kPanel<T>] = from.key(0)[d];
          to.values[(d / kPanel<T> * cache.capacity + position) * kPanel<T> + d % kPanel<T>] = from.value(0)[d];
        }
      }
    }
  });
}

template <class T>
void cachedAttention(const HeadShape& shape, int64_t rows, int64_t window, const T* qkv, const int32_t* positions,
                     const CacheView<T>& cache, T* out) {
  const int64_t group = shape.heads / shape.kvHeads;
  parallelChunks(rows, 64 * shape.keys(), [&](int64_t first, int64_t last) {
    Scratch<T> scores(group * (cache.capacity + kKeyPanel<T>));
    for (int64_t row = first; row < last; row++) {
      const int64_t position = positions[row];
      QueryBlock<T> block(position, position + 1, window);
      block.queries = group;  // the query heads of a key head stand where queries of a sequence stand
      for (int64_t kvHead = 0; kvHead < shape.kvHeads; kvHead++) {
        const CachedHead<T> head(shape, cache.slots[row], kvHead, cache.capacity);
        const HeadRows<T> from(shape, qkv + row * shape.width(), kvHead);
        block.scores(shape, from.query(0, 0), shape.headDim, head.keys, scores.get());
        double sums[256];
        for (int64_t g = 0; g < group; g++) {
          sums[g] = softmaxRow(scores.get() + g * block.keys, block.from, block.keys, firstSeen(position, window),
                               position + 1, attentionScale<T>(shape))
                        .sum;
        }
        T* to = out + row * shape.queries() + kvHead * group * shape.headDim;
        block.times(scores.get(), head.values, cache.capacity, shape.headDim, to, shape.headDim);
        for (int64_t g = 0; g < group; g++) {
          const T inverse = static_cast<T>(1 / sums[g]);
          for (int64_t d = 0; d < shape.headDim; d++) to[g * shape.headDim + d] *= inverse;
        }
      }
    }
  });
}

#define MINFORM_INSTANTIATE(T)                                                                        \
  template int64_t cacheElements<T>(const HeadShape&, int64_t);                                       \
  template void cacheStore(const HeadShape&, int64_t, const T*, const int32_t*, const CacheView<T>&); \
  template void cachedAttention(const HeadShape&, int64_t, int64_t, const T*, const int32_t*, const CacheView<T>&, T*);
MINFORM_INSTANTIATE(float)
MINFORM_INSTANTIATE(double)
#undef MINFORM_INSTANTIATE

}  // namespace MINFORM_ISA
}  // namespace minform
