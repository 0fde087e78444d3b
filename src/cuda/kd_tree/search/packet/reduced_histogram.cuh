// How many reduced distances lie up to where, counted by a warp: from this a radius is read that holds so many points.
#pragma once

#include "cuda/primitives/intrinsics.cuh"

#include <bit>
#include <cstdint>

namespace kith::cuda {

/// Bins over the four powers of two below a limit, by the bits of floats, which order like the numbers: 64 for each
/// power. What is smaller counts in the first.
class ReducedHistogram {
 public:
  static constexpr std::uint32_t kBinsPerLane = 8, kBins = kBinsPerLane * kWarp;

  /// `bins` has kBins words; no lane uses them before the warp is synchronised.
  __device__ ReducedHistogram(std::uint32_t* bins, float limit) : bins_(bins) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(limit);
    base_ = bits > (kBins << kStep) ? bits - (kBins << kStep) : 0;
#pragma unroll
    for (std::uint32_t i = 0; i < kBinsPerLane; ++i) bins_[i * kWarp + lane_number()] = 0;
  }

  /// A value up to the limit.
  __device__ void add(float reduced) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(reduced);
    const std::uint32_t bin = bits > base_ ? (bits - base_ - 1) >> kStep : 0;
    atomic_add(&bins_[bin < kBins ? bin : kBins - 1], 1u);
  }

  /// Sums up; by all lanes together, after they are synchronised.
  __device__ void finish() {
#pragma unroll
    for (std::uint32_t i = 0; i < kBinsPerLane; ++i) own_ += bins_[lane_number() * kBinsPerLane + i];
    sum_ = own_;
#pragma unroll
    for (std::uint32_t delta = 1; delta < kWarp; delta *= 2) {
      const std::uint32_t before = shuffle_up(sum_, delta);
      if (lane_number() >= delta) sum_ += before;
    }
  }
  /// How many were counted, and how many up to a quarter of the limit.
  __device__ std::uint32_t count() const { return shuffle(sum_, kWarp - 1); }
  __device__ std::uint32_t count_in_quarter() const { return shuffle(sum_, kWarp / 2 - 1); }

  /// A value up to which at least `expected` were counted; the limit if they are fewer.
  __device__ float radius_of(std::uint32_t expected) const {
    const std::uint32_t reaching = ballot(sum_ >= expected);
    const std::uint32_t lane = reaching == 0 ? kWarp - 1 : lowest_bit(reaching);
    std::uint32_t bin = lane * kBinsPerLane, found = shuffle(sum_ - own_, lane) + bins_[bin];
    for (std::uint32_t i = 1; i < kBinsPerLane && found < expected; ++i) found += bins_[++bin];
    return std::bit_cast<float>(base_ + ((bin + 1) << kStep));
  }

 private:
  static constexpr std::uint32_t kStep = 17;  ///< bits of a step: 2^23 / 64

  std::uint32_t* bins_;
  std::uint32_t base_;               ///< the first bin ends a step above it
  std::uint32_t own_ = 0, sum_ = 0;  ///< in the bins of this lane, and of all up to it
};

}  // namespace kith::cuda
