// Causal attention inside each sequence. A unit of work is one sequence and one key head; it walks over blocks of
// queries, and a block sees all its keys at once: scores = Q K^T, softmax, out = P V.
#include "model/heads.h"

namespace minform {
namespace MINFORM_ISA {

template <class T>
void attention(const HeadShape& shape, const Rows& sequences, int64_t window, const T* qkv, T* out, T* logSum) {
  parallel(sequences.count * shape.kvHeads, [&](int64_t unit) {
    const int64_t begin = sequences.begin(unit / shape.kvHeads), length = sequences.length(unit / shape.kvHeads);
    const int64_t kvHead = unit % shape.kvHeads, group = shape.heads / shape.kvHeads;
    if (length == 0) return;
    const HeadRows<T> rows(shape, qkv + begin * shape.width(), kvHead);
    Scratch<T> keys(panelEnd<T>(length) * shape.headDim);
    Scratch<T> values(panelElements<T>(panelEnd<T>(length), shape.headDim));
    Scratch<T> scores(kQueries * panelEnd<T>(length));
    rows.packKeys(length, keys.get());
    rows.packValues(length, values.get());
    for (int64_t query = 0; query < length; query += kQueries) {
      const QueryBlock<T> block(query, length, window);
      for (int64_t g = 0; g < group; g++) {
        const int64_t head = kvHead * group + g;
        block.scores(shape, rows.query(g, query), shape.width(), keys.get(), scores.get());
        T* to = out + (begin + query) * shape.queries() + head * shape.headDim;
        SoftmaxRow softmax[kQueries];
        for (int64_t i = 0; i < block.queries; i++) {
          softmax[i] = softmaxRow(scores.get() + i * block.keys, block.from, block.keys, firstSeen(query + i, window),
                                  query + i + 1, attentionScale<T>(shape));
        }
        block.times(scores.get(), values.get(), panelEnd<T>(length), shape.headDim, to, shape.queries());
        for (int64_t i = 0; i < block.queries; i++) {
          const T inverse = static_cast<T>(1 / softmax[i].sum);
          for (int64_t d = 0; d < shape.headDim; d++) to[i * shape.queries() + d] *= inverse;
          if (logSum != nullptr) {
            logSum[(begin + query + i) * shape.heads + head] =
                static_cast<T>(softmax[i].offset + ::log(softmax[i].sum));
          }
        }
      }
    }
  });
}

template void attention(const HeadShape&, const Rows&, int64_t, const float*, float*, float*);
template void attention(const HeadShape&, const Rows&, int64_t, const double*, double*, double*);

}  // namespace MINFORM_ISA
}  // namespace minform
