// The numbers of searches on the GPU that all engines share.
#pragma once

#include <cstdint>

namespace kith::cuda {

/// Up to this many queries are searched where they lie, in pinned host memory. Engines that read rows again and again
/// first copy those of so few.
inline constexpr std::uint64_t kMostInHostMemory = 1024;

/// Lists of up to this many neighbours lie in the lanes of a warp. Longer ones have at least kShortestList places, in
/// shared memory if a warp takes no more than kSharedPerWarp of it, else for so many blocks per processor.
inline constexpr std::uint32_t kListInLanes = 32, kShortestList = 64, kSharedPerWarp = 12 << 10;
inline constexpr std::uint32_t kBlocksWithLists = 8;

}  // namespace kith::cuda
