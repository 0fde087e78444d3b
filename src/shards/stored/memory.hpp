// What building and searching a folder of shards take of memory, and what fits into a limit.
#pragma once

#include "shards/stored/cut.hpp"

#include <kith/index.hpp>

#include <cstdint>

namespace kith::shards {

/// Bytes for the data, out of those that the caller allows: the rest is for the program, its threads, and what an
/// allocator keeps. 0: those of the thread's MemoryLimit, or half of the machine's.
std::uint64_t usable_memory(std::uint64_t allowed);
/// What must be allowed so that `usable` bytes are there for the data.
std::uint64_t memory_to_allow(std::uint64_t usable);

/// The points of a shard, whose rows are those of a caller.
struct ShardShape {
  std::uint32_t dims = 0;
  DType dtype = DType::f32;
};

/// Bytes to build a shard of so many points from rows on the disk, and to save it.
std::uint64_t bytes_to_build(std::uint64_t points, ShardShape shape, const BuildOptions& build);
/// Those that its files take about.
std::uint64_t bytes_on_disk(std::uint64_t points, ShardShape shape, const BuildOptions& build);
/// The fewest shards of so many rows that can be built one after the other. Throws OutOfMemory, which says what would
/// do, if 4096 are too few.
std::uint32_t shards_that_fit(std::uint64_t rows, ShardShape shape, const BuildOptions& build, std::uint64_t usable);
/// How many rows are read and kept at a time. Throws OutOfMemory.
StoredCutSizes cut_sizes_that_fit(std::uint64_t rows, ShardShape shape, std::uint32_t shards, int threads,
                                  std::uint64_t usable);

}  // namespace kith::shards
