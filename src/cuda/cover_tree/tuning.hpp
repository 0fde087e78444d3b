// The numbers of the cover tree on the GPU that choose between kernels or that several files rely on.
#pragma once

#include <cstdint>

namespace kith::cuda {

/// Edit distances of longer sequences are left to the CPU.
inline constexpr std::uint32_t kMostEditLength = 2048;
/// What the table of an edit distance may take in shared memory: 8 bytes for each symbol and 64 items of a query.
inline constexpr std::uint32_t kMostTableBytes = 48 << 10;
/// Symbols of an index at most, and what a query holds where its item is none of them. It is equal to no symbol.
inline constexpr std::uint32_t kMostSymbols = 255, kUnknownSymbol = 255;
static_assert(kMostSymbols <= kUnknownSymbol && kUnknownSymbol < 256, "symbols are bytes from 0 on");

/// Kernels read rows of more bytes slowly from host memory, the longest again and again.
inline constexpr std::uint64_t kMostReadInPlace = 512;
/// Frames of a walk lie in shared memory if a warp's take no more than this.
inline constexpr std::uint32_t kSharedFrames = 4 << 10;

/// Of a node as searches read it (CoverNodes).
inline constexpr std::uint64_t kCoverNodeBytes = 33;

namespace cover {
inline constexpr std::uint32_t kThreads = 128;    ///< of a block, in all kernels of a build but sorts and sums
inline constexpr std::uint32_t kBlocks = 6;       ///< of kernels that measure, side by side on a processor
inline constexpr std::uint32_t kTile = kThreads;  ///< objects of a cell that a block works on at a time
inline constexpr std::uint64_t kNeighbors = 64;   ///< per object, in lists of a level
inline constexpr std::uint64_t kFewestNeighbors = 1 << 16;  ///< that lists hold, of all objects
}  // namespace cover

}  // namespace kith::cuda
