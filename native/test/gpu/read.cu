#include "read.h"

#include "elements.h"
#include "launch.h"
#include "reduce.h"

namespace minform::cuda {
namespace {

struct ReadBlock {
  static constexpr int kThreads = 256;
  Global<const float> data;
  Global<float> sums;

  __device__ void operator()() const {
    Pack<float> packs[8];
#pragma unroll
    for (int p = 0; p < 8; p++) {
      packs[p] = loadAs<Pack<float>, float>(data, blockIdx.x * kReadElements + (p * kThreads + threadIdx.x) * 4);
    }
    float sum[1] = {0};
#pragma unroll
    for (int p = 0; p < 8; p++) sum[0] += (packs[p].at[0] + packs[p].at[1]) + (packs[p].at[2] + packs[p].at[3]);
    blockReduce(sum, Sum());
    if (threadIdx.x == 0) sums[blockIdx.x] = sum[0];
  }
};

}  // namespace

void readAll(const float* data, int64_t count, float* sums, Stream stream) {
  launch(ReadBlock{data, sums}, {count / kReadElements, ReadBlock::kThreads}, stream);
}

}  // namespace minform::cuda
