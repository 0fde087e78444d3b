// The numbers of the k-d tree on the GPU that choose between kernels or that several files rely on.
#pragma once

#include "engine/kd_tree/kd_tree.hpp"

#include <cstdint>

namespace kith::cuda {

// Building, above the subtrees that fit in shared memory.
inline constexpr std::uint32_t kPassThreads = 512;     ///< of the kernels that count all points
inline constexpr std::uint32_t kScatterThreads = 256;  ///< of the one that moves them: many blocks at a time
inline constexpr std::uint32_t kStepThreads = 1024;    ///< of those between, at most
inline constexpr std::uint32_t kCounters = 8192;       ///< of histograms, per segment and level
inline constexpr std::uint32_t kMostBins = 2048;
inline constexpr std::uint32_t kSelectBins = 1024;
inline constexpr std::uint32_t kStagedDims = 32;      ///< boxes of up to this many dims lie in shared memory
inline constexpr std::uint32_t kOwnDims = 4;          ///< coordinates that a thread of a step has of its candidate
inline constexpr std::uint32_t kFewCandidates = 160;  ///< candidates that are ranked by comparing all pairs
inline constexpr std::uint32_t kLongList = 1 << 14;   ///< candidates that are worth several blocks
inline constexpr std::uint32_t kCursorStride = 8;     ///< cursors lie a sector apart
inline constexpr std::uint32_t kSamples = 16384;      ///< points of a segment that medians are guessed from, at most
inline constexpr std::uint32_t kSampledDims = 8;      ///< with more dims nothing is guessed
inline constexpr std::uint32_t kTableValues = 256;    ///< of a dimension that has few, at most
inline constexpr std::uint32_t kTabledDims = 8;       ///< with more dims there are no tables
static_assert(kTabledDims * kTableValues % kPassThreads == 0, "threads of a pass share out the tables evenly");

/// The most points of a block that finishes a subtree, and the same if it does not stage their coordinates.
inline constexpr std::uint32_t kMostFinished = 4096, kMostUnstaged = 2048;
/// The most points per thread of such a block. Many make little work per point, few make a block quick: for sets that
/// give every multiprocessor hardly a block, and for leaves that are smaller.
inline constexpr std::uint32_t kManyRows = 16, kFewRows = 8;
/// A block with more than kFewRows points per thread has so many threads, and is one of several.
inline constexpr std::uint32_t kManyRowsThreads = 256;
static_assert(kManyRows * kManyRowsThreads == kMostFinished, "else no block would have many rows");

/// kNN under L2 has a kernel without other metrics in these dims: up to 19 % faster in 6 to 10 (of which 6 to 8 have
/// kernels of their own since, which are faster still), slower from 12 on.
inline constexpr std::uint32_t kFewestManyDims = 5, kMostManyDims = 10;

/// Queries of a packet: a lane each.
inline constexpr std::uint32_t kPacketQueries = 32;
/// Packets take these dims, and trees of at least so many levels: a bottom node has 32 leaves.
inline constexpr std::uint32_t kFewestPacketDims = 2, kMostPacketDims = 5, kFewestPacketLevels = 5;
/// Packets pay from `Tuning::gpu_packet_queries` queries on, if there is one for every few points: queries about as
/// dense as points.
inline constexpr std::uint64_t kPointsPerQuery = 8;
/// Leaves of a packet that have names where keys are listed, and bits that name a point of a leaf. In 5 dims there are
/// more leaves around a packet, and they are fuller.
constexpr std::uint32_t leaves_of_keys(std::uint32_t dims) { return dims < 5 ? 256 : 512; }
constexpr std::uint32_t point_bits_of(std::uint32_t dims) { return dims < 5 ? 5 : 6; }
/// Bits of a key that name the point: the leaf's place in the packet's history, and the point's in its leaf.
constexpr std::uint32_t name_bits_of(std::uint32_t dims) { return (dims < 5 ? 8 : 9) + point_bits_of(dims); }
/// Leaves that packets know: fuller ones have no name, in emptier ones reading a few points too many would leave the
/// leaf.
inline constexpr std::uint32_t kFewestPerLeaf = 8;
constexpr std::uint32_t most_per_leaf_of(std::uint32_t dims) { return 1u << point_bits_of(dims); }
/// Dims in which points can be collected, too: a word has a bit for each point of a leaf.
constexpr bool can_collect(std::uint32_t dims) { return dims < 5; }
/// Leaves of a packet that have names where points are collected: as many as a radius with some 250 points reaches.
constexpr std::uint32_t leaves_of_collecting(std::uint32_t dims) { return dims == 2 ? 256 : dims == 3 ? 512 : 1024; }

/// The most neighbours that are found by lists of keys in registers. Beyond, points are collected.
template <typename T>
inline constexpr std::uint32_t kMostByKeys = sizeof(T) == 4 ? 32 : 16;
/// The most that are found by collecting points, and the most points that a query may collect.
inline constexpr std::uint32_t kMostByCollecting = 208, kMostCollected = 256;
static_assert(kMostByCollecting < kMostCollected, "a guessed radius holds more than are wanted");
/// The most neighbours for which lanes sort, which may find a dozen more.
inline constexpr std::uint32_t kMostInLanes = 16;

/// Of every number of dims that packets take: leaves of the default size, which are at least half full, qualify, and
/// the bits of names are enough for keys and, of 16 bits, for collected points.
constexpr bool packets_take_default_leaves() {
  for (std::uint32_t dims = kFewestPacketDims; dims <= kMostPacketDims; ++dims) {
    const std::uint32_t leaf = engine::default_leaf_size(dims), most = most_per_leaf_of(dims);
    if (leaf > most || leaf / 2 < kFewestPerLeaf || leaves_of_keys(dims) * most > 1u << name_bits_of(dims))
      return false;
    if (can_collect(dims) && (most > 32 || leaves_of_collecting(dims) * most > 1u << 16)) return false;
  }
  return true;
}
static_assert(packets_take_default_leaves(), "else most searches would silently take slower kernels");

}  // namespace kith::cuda
