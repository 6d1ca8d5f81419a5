// softmax(-r / T) over the counted steps of a row, from (r - min) / T, by one warp.
#pragma once

#include <cmath>

#include "reduce.h"
#include "rows.h"

namespace minform::cuda {

struct SoftMin {
  double lowest, normaliser, temperature;

  __device__ __forceinline__ double weight(double reward) const {
    return exp((lowest - reward) / temperature) / normaliser;
  }
};

template <class T>
__device__ SoftMin softMin(const Global<const T>& rewards, const Global<const uint8_t>& mask, int64_t begin,
                           int64_t end, double temperature) {
  double lowest = HUGE_VAL, normaliser = 0;
  for (int64_t i = begin + laneIndex(); i < end; i += kWarp) {
    if (trained(mask, i)) lowest = smaller(lowest, static_cast<double>(rewards[i]));
  }
  lowest = warpReduce(lowest, Least());
  for (int64_t i = begin + laneIndex(); i < end; i += kWarp) {
    if (trained(mask, i)) normaliser += exp((lowest - static_cast<double>(rewards[i])) / temperature);
  }
  return {lowest, warpReduce(normaliser, Sum()), temperature};
}

}  // namespace minform::cuda
