// Gradients of attention. Per block of queries, with P the weights and d the upstream gradient of the output o:
//   dV += P^T d,   dS = P (d V^T - rowsum(d o)) / sqrt(headDim),   dQ = dS K,   dK += dS^T Q.
#include "model/heads.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

// out[keys, width] += weights[queries, keys]^T rows[queries, width], for the keys that exist: rows past the last one
// belong to the next sequence.
template <class T>
void addTransposed(const QueryBlock<T>& block, const T* weights, const T* rows, int64_t stride, int64_t width, T* out,
                   int64_t outStride, T* interleaved, T* panels) {
  const int64_t keys = block.first + block.queries - block.from;
  interleaveColumns(weights, block.keys, keys, block.queries, interleaved);
  panelsOfColumns(rows, stride, block.queries, block.queries, width, panels);
  multiplyBlock<T>({interleaved, 0, keys, width, block.queries, panels, out, outStride, out, outStride});
}

// Scores to weights; keys that a query does not see get 0.
template <class T>
void weightsOf(const QueryBlock<T>& block, int64_t window, T scale, const T* logSum, int64_t stride, T* scores) {
  for (int64_t i = 0; i < block.queries; i++) {
    T* row = scores + i * block.keys;
    const int64_t low = firstSeen(block.first + i, window) - block.from, high = block.first + i + 1 - block.from;
    const T offset = logSum[i * stride];
    for (int64_t j = 0; j < block.keys; j++) row[j] = expOf(row[j] * scale - offset);
    for (int64_t j = 0; j < low; j++) row[j] = 0;
    for (int64_t j = high; j < block.keys; j++) row[j] = 0;
  }
}

}  // namespace

template <class T>
void attentionBackward(const HeadShape& shape, const Rows& sequences, int64_t window, const T* qkv, const T* out,
                       const T* logSum, const T* dOut, T* dQkv) {
  parallel(sequences.count * shape.kvHeads, [&](int64_t unit) {
    const int64_t begin = sequences.begin(unit / shape.kvHeads), length = sequences.length(unit / shape.kvHeads);
    const int64_t kvHead = unit % shape.kvHeads, group = shape.heads / shape.kvHeads;
    const int64_t dim = shape.headDim, width = shape.width(), queries = shape.queries();
    if (length == 0) return;
    const int64_t padded = panelEnd<T>(length), dims = panelElements<T>(1, dim);
    const HeadRows<T> rows(shape, qkv + begin * width, kvHead);
    const HeadRows<T> gradients(shape, dQkv + begin * width, kvHead);
    Scratch<T> keys(padded * dim), values(padded * dim), keyRows(padded * dims);
    Scratch<T> weights(kQueries * padded), slopes(kQueries * padded);
    Scratch<T> interleaved(kQueries * (padded + kTileRows)), panels(kQueries * dims);
    rows.packKeys(length, keys.get());
    panelsOfRows(rows.value(0), width, length, padded, dim, values.get());
    panelsOfColumns(rows.key(0), width, length, padded, dim, keyRows.get());
    T* dKeys = const_cast<T*>(gradients.key(0));
    T* dValues = const_cast<T*>(gradients.value(0));
    for (int64_t token = 0; token < length; token++) {
      for (int64_t d = 0; d < dim; d++) dKeys[token * width + d] = dValues[token * width + d] = 0;
    }
    for (int64_t query = 0; query < length; query += kQueries) {
      const QueryBlock<T> block(query, length, window);
      for (int64_t g = 0; g < group; g++) {
        const int64_t head = kvHead * group + g, at = (begin + query) * queries + head * dim;
        block.scores(shape, rows.query(g, query), width, keys.get(), weights.get());
        weightsOf(block, window, attentionScale<T>(shape), logSum + (begin + query) * shape.heads + head, shape.heads,
                  weights.get());
        block.scores(shape, dOut + at, queries, values.get(), slopes.get());
        for (int64_t i = 0; i < block.queries; i++) {
          const T delta = static_cast<T>(dot(dOut + at + i * queries, out + at + i * queries, dim));
          const T* p = weights.get() + i * block.keys;
          T* slope = slopes.get() + i * block.keys;
          for (int64_t j = 0; j < block.keys; j++) slope[j] = p[j] * (slope[j] - delta) * attentionScale<T>(shape);
        }
        block.times(slopes.get(), keyRows.get(), padded, dim, const_cast<T*>(gradients.query(g, query)), width);
        addTransposed(block, weights.get(), dOut + at, queries, dim, dValues + block.from * width, width,
                      interleaved.get(), panels.get());
        addTransposed(block, slopes.get(), rows.query(g, query), width, dim, dKeys + block.from * width, width,
                      interleaved.get(), panels.get());
      }
    }
  });
}

template void attentionBackward(const HeadShape&, const Rows&, int64_t, const float*, const float*, const float*,
                                const float*, float*);
template void attentionBackward(const HeadShape&, const Rows&, int64_t, const double*, const double*, const double*,
                                const double*, double*);

}  // namespace MINFORM_ISA
}  // namespace minform
