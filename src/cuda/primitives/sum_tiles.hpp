// Into how many tiles sums over an array are cut, each the work of a block.
#pragma once

#include <cstdint>

namespace kith::cuda {

inline constexpr std::uint32_t kSumThreads = 256;
inline constexpr std::uint32_t kSumPerThread = 8;
inline constexpr std::uint32_t kSumTile = kSumThreads * kSumPerThread;

inline std::uint64_t sum_tiles_of(std::uint64_t count) { return (count + kSumTile - 1) / kSumTile; }

}  // namespace kith::cuda
