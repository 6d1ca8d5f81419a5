// Advantages on the device: the contracts of minform/advantage.h with every pointer, the group index and the statistics
// included, on the device. A value that must be finite and is not has its lowest flat index reported in `status`;
// outputs and statistics are then unspecified. `tokens` is offsets[count], the length of the token arrays.
//
// Agreement with the CPU kernels: outcomes (but for GroupStd::batch), both kinds of leave-one-out and the reward
// streams run in the order of the CPU and have the same bits. GroupStd::batch, reward-to-go, GAE, the optimal baseline
// and whitening are scans and trees: within 1e-12 (float64) or 1e-7 (float32) in norm ratio. Where float64 overflows
// they saturate as well, though not from the same token on.
#pragma once

#include "minform/advantage.h"
#include "minform/cuda/runtime.h"

namespace minform::cuda {

template <class T>
void advantageOutcomes(const OutcomeRule& rule, const OutcomeInput<T>& in, const Groups& groups, T* out,
                       GroupStats* stats, int64_t* status, Stream stream);

template <class T>
void advantageTokenRloo(const BaselineRule& rule, const TokenRewards<T>& in, const Groups& groups, T* advantages,
                        T* returns, GroupStats* stats, int64_t* status, Stream stream);
// A bad reward is reported as the index of its step.
template <class T>
void advantageStepRloo(const BaselineRule& rule, const StepRewards<T>& in, const Groups& groups, T* advantages,
                       T* returns, GroupStats* stats, int64_t* status, Stream stream);

template <class T>
void advantageRewardToGo(const Rows& tokens, const T* rewards, const uint8_t* mask, double gamma, const T* baselines,
                         T* advantages, T* returns, int64_t* status, Stream stream);

template <class T>
void advantageGae(const GaeInput<T>& in, T* advantages, T* returns, int64_t* status, Stream stream);

template <class T>
void advantageOptimalBaseline(const OptimalBaselineInput<T>& in, int64_t tokens, const Groups& groups, T* advantages,
                              T* returns, GroupStats* stats, int64_t* status, Stream stream);

template <class T>
void advantageWhiten(const WhitenRule& rule, int64_t count, const T* values, const uint8_t* mask, T* out,
                     int64_t* status, Stream stream);

template <class T>
void advantageAddPerRow(const Rows& tokens, const T* base, const T* perRow, double scale, Spread spread,
                        const uint8_t* mask, T* out, int64_t* status, Stream stream);

template <class T>
void advantageCodeVerifiable(int64_t rows, const T* verifiable, double shift, T* out, int64_t* status, Stream stream);

template <class T>
void advantageScorableTokens(const Rows& tokens, const T* rewards, const uint8_t* mask, uint8_t* out, Stream stream);

template <class T>
void advantageKlReward(int64_t tokens, const T* rewards, const T* kl, double coefficient, const uint8_t* mask, T* out,
                       int64_t* status, Stream stream);

}  // namespace minform::cuda
