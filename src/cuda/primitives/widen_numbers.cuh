// The kernel that writes 32-bit numbers as 64-bit ones: four to a thread where they lie well, bound by memory alone.
#pragma once

#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

inline constexpr std::uint32_t kWidenThreads = 256;
inline constexpr std::uint32_t kWidenedAtOnce = 4;

struct alignas(16) NarrowFour {
  std::uint32_t values[kWidenedAtOnce];
};
struct alignas(16) WideTwo {
  std::int64_t values[2];
};

/// Both arrays must begin at multiples of 16 bytes. A thread widens one group of four; the last one may be short.
__global__ void __launch_bounds__(kWidenThreads)
    widen_groups(const std::uint32_t* numbers, std::uint64_t count, std::int64_t* wide) {
  const std::uint64_t first =
      (std::uint64_t{block_number()} * kWidenThreads + thread_number()) * std::uint64_t{kWidenedAtOnce};
  if (first + kWidenedAtOnce <= count) {
    const NarrowFour four = *reinterpret_cast<const NarrowFour*>(numbers + first);
    WideTwo* const to = reinterpret_cast<WideTwo*>(wide + first);
    to[0] = {{four.values[0], four.values[1]}};
    to[1] = {{four.values[2], four.values[3]}};
    return;
  }
  for (std::uint64_t i = first; i < count; ++i) wide[i] = numbers[i];
}

/// The same for arrays that begin anywhere, one number to a thread.
__global__ void __launch_bounds__(kWidenThreads)
    widen_each(const std::uint32_t* numbers, std::uint64_t count, std::int64_t* wide) {
  const std::uint64_t i = std::uint64_t{block_number()} * kWidenThreads + thread_number();
  if (i < count) wide[i] = numbers[i];
}

}  // namespace kith::cuda
