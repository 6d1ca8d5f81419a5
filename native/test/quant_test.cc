// Golden blocks, short blocks, every element type, damaged weights and thread counts, at the ISA level in use.
#include "minform/quant.h"

#include <cstring>
#include <limits>
#include <vector>

#include "check.h"

using namespace minform;

struct Quantized {
  int64_t status;
  std::vector<uint8_t> packed;
  std::vector<float> scales;

  int q(int bits, int64_t block, int i) const {
    if (bits == 8) return packed[static_cast<size_t>(block * 32 + i)];
    const int byte = packed[static_cast<size_t>(block * 16 + i / 2)];
    return i % 2 == 0 ? byte & 15 : byte >> 4;
  }
};

template <class T>
static Quantized quantized(const void* data, Element element, int64_t rows, int64_t columns, int bits) {
  const size_t blocks = static_cast<size_t>(rows * quantBlocks(columns));
  Quantized out{0, std::vector<uint8_t>(blocks * 4 * static_cast<size_t>(bits), 0xEE), std::vector<float>(blocks, -1)};
  const CancelFlag cancelled{false};
  out.status =
      quant<T>().quantizeRows({data, element, rows, columns}, {bits, out.packed.data(), out.scales.data()}, cancelled);
  return out;
}

static std::vector<float> noise(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  uint32_t state = 7;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int32_t>(state)) / 2147483648.0f;
  }
  return values;
}

// One row of 40: -8 .. 7 twice, then a short block whose end is positive.
static void golden() {
  float row[40];
  for (int i = 0; i < 32; i++) row[i] = static_cast<float>(i % 16 - 8) * .25f;
  for (int i = 32; i < 40; i++) row[i] = static_cast<float>(i - 35);
  const Quantized four = quantized<float>(row, Element::float32, 1, 40, 4);
  CHECK(four.status == kOk);
  CHECK(four.scales[0] == .25f);
  CHECK(four.scales[1] == -.5f);
  for (int i = 0; i < 32; i++) CHECK(four.q(4, 0, i) == i % 16);
  for (int i = 0; i < 8; i++) CHECK(four.q(4, 1, i) == (i == 0 ? 14 : 8 - 2 * (i - 3)));
  for (int i = 8; i < 32; i++) CHECK(four.q(4, 1, i) == 8);
  CHECK(four.packed[0] == 0x10);
  const Quantized eight = quantized<float>(row, Element::float32, 1, 40, 8);
  CHECK(eight.scales[0] == .015625f);
  for (int i = 0; i < 32; i++) CHECK(eight.q(8, 0, i) == 128 + 16 * (i % 16 - 8));
  CHECK(eight.q(8, 1, 7) == 0);
  CHECK(eight.q(8, 1, 8) == 128);
}

// Ties of rounding go to even; of two opposite ends the negative one is exact; zeros, and what is all but zero.
static void edges() {
  float row[96] = {8, -8, .5f, 1.5f, -2.5f, 7.5f};
  row[64] = std::numeric_limits<float>::denorm_min();
  const Quantized out = quantized<float>(row, Element::float32, 1, 96, 4);
  CHECK(out.scales[0] == 1);
  const int expected[] = {15, 0, 8, 10, 6, 15};
  for (int i = 0; i < 6; i++) CHECK(out.q(4, 0, i) == expected[i]);
  CHECK(out.scales[1] == 0 && out.scales[2] == 0);
  for (int i = 0; i < 32; i++) CHECK(out.q(4, 1, i) == 8 && out.q(4, 2, i) == 8);
}

static void elementTypes(int bits) {
  // Numbers that every type holds.
  const int64_t rows = 5, columns = 1100;
  std::vector<float> values = noise(rows * columns);
  std::vector<uint16_t> bfloats, halves;
  for (float& value : values) {
    value = static_cast<float>(static_cast<int>(value * 127)) / 64;
    uint32_t word;
    std::memcpy(&word, &value, sizeof word);
    bfloats.push_back(static_cast<uint16_t>(word >> 16));
    halves.push_back(
        value == 0 ? 0 : static_cast<uint16_t>((word >> 16 & 0x8000) | (((word & 0x7FFFFFFF) - 0x38000000) >> 13)));
  }
  const std::vector<double> doubles(values.begin(), values.end());
  const Quantized full = quantized<float>(values.data(), Element::float32, rows, columns, bits);
  for (const Quantized& other : {quantized<float>(bfloats.data(), Element::bfloat16, rows, columns, bits),
                                 quantized<float>(halves.data(), Element::float16, rows, columns, bits)}) {
    CHECK(other.packed == full.packed);
    CHECK(other.scales == full.scales);
  }
  const Quantized reference = quantized<double>(doubles.data(), Element::float64, rows, columns, bits);
  CHECK(reference.scales == full.scales);
  int different = 0;
  for (size_t i = 0; i < full.packed.size(); i++) different += full.packed[i] != reference.packed[i] ? 1 : 0;
  // A quotient next to a half may round to the other side in float32.
  CHECK(different <= 5);
}

static void damage() {
  const int64_t rows = 70, columns = 2000;
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    for (const int64_t index : {int64_t{0}, int64_t{1999}, int64_t{1024}, int64_t{77777}, rows * columns - 1}) {
      std::vector<float> values = noise(rows * columns);
      values[static_cast<size_t>(index)] = bad;
      values.back() = bad;
      CHECK(quantized<float>(values.data(), Element::float32, rows, columns, 4).status == index);
    }
  }
}

static void threads() {
  const int64_t rows = 301, columns = 999;
  const std::vector<float> values = noise(rows * columns);
  const int before = numThreads();
  setNumThreads(1);
  const Quantized one = quantized<float>(values.data(), Element::float32, rows, columns, 4);
  for (const int count : {2, 3, 7}) {
    setNumThreads(count);
    const Quantized many = quantized<float>(values.data(), Element::float32, rows, columns, 4);
    CHECK(many.packed == one.packed);
    CHECK(many.scales == one.scales);
  }
  setNumThreads(before);
}

// A kernel that sees the flag writes nothing.
static void cancelledAtOnce() {
  const std::vector<float> values = noise(64);
  std::vector<uint8_t> packed(64, 0xEE);
  std::vector<float> scales(2, -1);
  const CancelFlag cancelled{true};
  quant<float>().quantizeRows({values.data(), Element::float32, 2, 32}, {8, packed.data(), scales.data()}, cancelled);
  CHECK(scales[0] == -1 && packed[0] == 0xEE);
}

int main() {
  golden();
  edges();
  elementTypes(4);
  elementTypes(8);
  damage();
  threads();
  cancelledAtOnce();
  return checkResult();
}
