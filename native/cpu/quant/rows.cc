// Rows of stored weights to blocks of few bits, one pass.
#include "elements.h"
#include "minform/quant.h"
#include "vectors.h"

namespace minform {
namespace MINFORM_ISA {
namespace {

// Weights converted at once: whole blocks that stay in the first-level cache.
constexpr int64_t kRun = 32 * kQuantBlock;

// Weights of a piece of work.
constexpr int64_t kPiece = 1 << 16;

template <class T>
constexpr int64_t kLanesOf = kVectorBytes / sizeof(T);

// Adding and taking it away again rounds to an integer, ties to even: 1.5 * 2^23 and 1.5 * 2^52.
inline float shifter(float) { return 12582912.0f; }
inline double shifter(double) { return 6755399441055744.0; }

// Whether some values, whole blocks of them, hold neither NaN nor infinity.
template <class T>
inline bool allFinite(const T* values, int64_t count) {
  typename VectorOf<T>::type defect = {};  // a lane is 0, or NaN for good
  for (int64_t i = 0; i < count; i += kLanesOf<T>) {
    const auto x = loadLanes(values + i);
    defect += x - x;
  }
  T sum = 0;
  for (int i = 0; i < kLanesOf<T>; i++) sum += defect[i];
  return sum == 0;
}

// The value of largest magnitude of a block. Neither maxima nor minima round: any order gives the same bits.
template <class T>
inline T extremeOf(const T* values) {
  auto high = loadLanes(values), low = high;
  for (int64_t i = kLanesOf<T>; i < kQuantBlock; i += kLanesOf<T>) {
    const auto x = loadLanes(values + i);
    high = largerLanes(x, high);
    low = smallerLanes(x, low);
  }
  T highest = high[0], lowest = low[0];
  for (int i = 1; i < kLanesOf<T>; i++) {
    highest = larger(highest, static_cast<T>(high[i]));
    lowest = smaller(lowest, static_cast<T>(low[i]));
  }
  return highest > -lowest ? highest : lowest;
}

template <class T, int kBits>
inline void quantizeBlock(const T* values, uint8_t* packed, float* scale) {
  constexpr int kMiddle = 1 << (kBits - 1);
  *scale = static_cast<float>(-extremeOf(values) / kMiddle);
  const auto divisor = allLanes(*scale == 0 ? T(1) : static_cast<T>(*scale));
  const auto zero = allLanes(T(0)), shift = allLanes(shifter(T(0))), middle = allLanes(T(kMiddle)),
             last = allLanes(T(2 * kMiddle - 1));
  T steps[kQuantBlock];
  for (int64_t i = 0; i < kQuantBlock; i += kLanesOf<T>) {
    const auto q = ((loadLanes(values + i) / divisor + shift) - shift) + middle;
    storeLanes(steps + i, largerLanes(smallerLanes(q, last), zero));
  }
  uint8_t q[kQuantBlock];
  for (int i = 0; i < kQuantBlock; i++) q[i] = static_cast<uint8_t>(static_cast<int32_t>(steps[i]));
  if (kBits == 8) {
    __builtin_memcpy(packed, q, sizeof q);
  } else {
    // Pairs as 16-bit words, which is what compilers turn into vector code.
    uint16_t pairs[kQuantBlock / 2];
    __builtin_memcpy(pairs, q, sizeof q);
    for (int i = 0; i < kQuantBlock / 2; i++) packed[i] = static_cast<uint8_t>(pairs[i] | pairs[i] >> 4);
  }
}

// Column of the first weight that is NaN or infinite, or kOk.
template <class T, int kBits>
int64_t quantizeRow(const Matrix& weights, int64_t row, uint8_t* packed, float* scales) {
  T values[kRun];
  for (int64_t from = 0; from < weights.columns; from += kRun) {
    const int64_t count = smaller(kRun, weights.columns - from);
    readElements(weights.data, weights.element, row * weights.columns + from, count, values);
    const int64_t blocks = quantBlocks(count);
    for (int64_t i = count; i < blocks * kQuantBlock; i++) values[i] = 0;
    if (!allFinite(values, blocks * kQuantBlock)) {
      int64_t bad = 0;
      while (isFinite(values[bad])) bad++;
      return from + bad;
    }
    for (int64_t block = 0; block < blocks; block++) {
      quantizeBlock<T, kBits>(values + block * kQuantBlock, packed, scales);
      packed += kQuantBlock * kBits / 8;
      scales++;
    }
  }
  return kOk;
}

template <class T, int kBits>
int64_t quantizeAll(const Matrix& weights, const QuantizedRows& out, const CancelFlag& cancelled) {
  const int64_t blocks = quantBlocks(weights.columns);
  const int64_t step = larger(int64_t(1), kPiece / larger(int64_t(1), weights.columns));
  const int64_t pieces = (weights.rows + step - 1) / step;
  Scratch<int64_t> bad(pieces + 1);
  parallel(pieces, [&](int64_t piece) {
    bad[piece] = kOk;
    if (cancelled.load(std::memory_order_relaxed)) return;
    const int64_t end = smaller((piece + 1) * step, weights.rows);
    for (int64_t row = piece * step; row < end && bad[piece] == kOk; row++) {
      uint8_t* packed = out.packed + row * blocks * (kQuantBlock * kBits / 8);
      const int64_t column = quantizeRow<T, kBits>(weights, row, packed, out.scales + row * blocks);
      if (column != kOk) bad[piece] = row * weights.columns + column;
    }
  });
  for (int64_t piece = 0; piece < pieces; piece++) {
    if (bad[piece] != kOk) return bad[piece];
  }
  return kOk;
}

}  // namespace

template <class T>
int64_t quantizeRows(const Matrix& weights, const QuantizedRows& out, const CancelFlag& cancelled) {
  return out.bits == 8 ? quantizeAll<T, 8>(weights, out, cancelled) : quantizeAll<T, 4>(weights, out, cancelled);
}

template int64_t quantizeRows<float>(const Matrix&, const QuantizedRows&, const CancelFlag&);
template int64_t quantizeRows<double>(const Matrix&, const QuantizedRows&, const CancelFlag&);

}  // namespace MINFORM_ISA
}  // namespace minform
