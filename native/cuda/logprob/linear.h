// Logits from hidden states, a chunk at a time: some rows against some of the vocabulary, in scratch memory.
//
// Tiles of a row that are reduced by one block lie at the same places of the vocabulary whatever the chunks are, so
// that a row's bits do not depend on how many rows there are.
#pragma once

#include "any_elements.h"
#include "logprob/chunk_limit.h"
#include "minform/logprob.h"
#include "products/product.h"
#include "tiles.h"

namespace minform::cuda {

constexpr int kLinearPacks = 4;  // per thread
template <class T>
constexpr int64_t kLinearTile = int64_t{kTileThreads} * kLinearPacks * Pack<T>::kSize;  // 4,096 in float32

// How many rows and tokens a chunk takes: at most `most` elements, `tokensWanted` (at least a tile) before more
// rows.
struct ChunkSizes {
  int64_t rows, tokens;

  ChunkSizes(const LinearInput& in, int64_t most, int64_t tokensWanted, int64_t tile) {
    const int64_t elements = most < chunkLimit() ? most : chunkLimit();
    const int64_t allRows = in.hidden.rows, allTokens = in.weight.rows;
    const int64_t least = tokensWanted < allTokens ? tokensWanted : allTokens;
    rows = elements / least < allRows ? elements / least : allRows;
    const int64_t fitting = elements / rows / tile * tile;
    tokens = fitting < allTokens ? fitting : allTokens;
  }

  // Lines of a chunk start on 16 bytes in every element type.
  int64_t leading() const { return ceilDivide(tokens, 8) * 8; }
};

struct Chunk {
  int64_t firstRow, rows, firstToken, tokens, leading;
  bool firstOfRows, lastOfRows;  // of the chunks that these rows meet
};

// Calls body(chunk): all tokens for some rows, then the next rows.
template <class Body>
void forEachChunk(const LinearInput& in, const ChunkSizes& sizes, const Body& body) {
  for (int64_t row = 0; row < in.hidden.rows; row += sizes.rows) {
    const int64_t rows = sizes.rows < in.hidden.rows - row ? sizes.rows : in.hidden.rows - row;
    for (int64_t token = 0; token < in.weight.rows; token += sizes.tokens) {
      const int64_t left = in.weight.rows - token, tokens = sizes.tokens < left ? sizes.tokens : left;
      body(Chunk{row, rows, token, tokens, sizes.leading(), token == 0, tokens == left});
    }
  }
}

template <class T>
void multiplyLogits(const LinearInput& in, const Chunk& chunk, T* logits, Stream stream) {
  multiply(Product<T>{chunk.rows, chunk.tokens, in.hidden.columns, linesOf(in.hidden, chunk.firstRow, true),
                      linesOf(in.weight, chunk.firstToken, true), logits, chunk.leading, false, false, nullptr},
           stream);
}

// The tiles of a chunk, as kernels read them: the bias is added here.
template <class T>
struct ChunkTiles {
  Chunk chunk;
  Global<T> logits;
  AnyElements<T> bias;
  int64_t perRow;
  int threads;

  ChunkTiles(const LinearInput& in, const Chunk& chunk, T* logits)
      : chunk(chunk),
        logits(logits),
        bias(in.bias, in.biasElement),
        perRow(ceilDivide(chunk.tokens, kLinearTile<T>)),
        threads(in.weight.rows >= kLinearTile<T>
                    ? kTileThreads
                    : static_cast<int>(ceilDivide(in.weight.rows, kWarp * kLinearPacks * Pack<T>::kSize) * kWarp)) {}

  Shape shape() const { return {chunk.rows * perRow, threads}; }
  Shape rowShape(int rowThreads) const { return threadPerElement(chunk.rows, rowThreads); }

  // Of the chunk.
  __device__ __forceinline__ int64_t row() const { return blockIdx.x / perRow; }
  __device__ __forceinline__ int64_t column(int pack) const {
    return blockIdx.x % perRow * kLinearTile<T> + (int64_t{pack} * blockDim.x + threadIdx.x) * Pack<T>::kSize;
  }

  __device__ __forceinline__ T withBias(T logit, int64_t column) const {
    return bias.present() ? logit + bias[chunk.firstToken + column] : logit;
  }

  __device__ __forceinline__ Pack<T> read(int64_t row, int64_t column) const {
    const int64_t start = row * chunk.leading;
    Pack<T> pack = readPack<T>(logits, start + column, start + chunk.tokens, true, lowest<T>());
#pragma unroll
    for (int i = 0; i < Pack<T>::kSize; i++) {
      if (column + i < chunk.tokens) pack.at[i] = withBias(pack.at[i], column + i);
    }
    return pack;
  }

  // Where the row's target stands in the chunk; negative or at least chunk.tokens when it does not.
  __device__ __forceinline__ int64_t targetColumn(const Global<const int32_t>& targets, int64_t row) const {
    return targets[chunk.firstRow + row] - chunk.firstToken;
  }
};

}  // namespace minform::cuda
