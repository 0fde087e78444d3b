// See memory.hpp.
#include "shards/stored/memory.hpp"

#include "runtime/memory_limit.hpp"
#include "runtime/parallel.hpp"
#include "runtime/physical_memory.hpp"
#include "shards/check_rules.hpp"
#include "shards/cut_bins.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kith::shards {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kProcessBytes = 24 * kMiB;
constexpr std::uint64_t kSlackShare = 16;
/// A larger block of rows is not read faster.
constexpr std::uint64_t kMostBlockBytes = 64 * kMiB;
constexpr std::uint64_t kLeastBlockRows = 1024;
/// While blocks are read: of each thread.
constexpr std::uint64_t kReadBytes = 4 * kMiB;
/// Besides the coordinates of a row that is cut: its node, its place among those near a cut, its number.
constexpr std::uint64_t kCutBytes = 34;
constexpr std::uint64_t kMostInShard = 0xffff'fffe;

/// A shard has one row more than another.
std::uint64_t rows_of_shard(std::uint64_t rows, std::uint32_t shards) { return (rows + shards - 1) / shards; }

}  // namespace

std::uint64_t usable_memory(std::uint64_t allowed) {
  if (allowed == 0) allowed = runtime::host_memory_limit();
  if (allowed == runtime::kNoLimit) allowed = runtime::physical_memory() / 2;
  const std::uint64_t taken = kProcessBytes + allowed / kSlackShare;
  return allowed - std::min(allowed, taken);
}

std::uint64_t memory_to_allow(std::uint64_t usable) {
  return (usable + kProcessBytes) / (kSlackShare - 1) * kSlackShare + kSlackShare * kSlackShare;
}

std::uint64_t bytes_to_build(std::uint64_t points, ShardShape shape, const BuildOptions& build) {
  return points * (std::uint64_t{shape.dims} * size_of(shape.dtype) + sizeof(std::uint64_t)) +
         Index::plan(points, shape.dims, shape.dtype, build).peak_bytes;
}

std::uint64_t bytes_on_disk(std::uint64_t points, ShardShape shape, const BuildOptions& build) {
  const std::uint64_t index = Index::plan(points, shape.dims, shape.dtype, build).index_bytes;
  return points * sizeof(std::uint64_t) + index + index / 32 + 64 * 1024;
}

std::uint32_t shards_that_fit(std::uint64_t rows, ShardShape shape, const BuildOptions& build, std::uint64_t usable) {
  const auto fits = [&](std::uint32_t shards) {
    const std::uint64_t points = rows_of_shard(rows, shards);
    return points <= kMostInShard && bytes_to_build(points, shape, build) <= usable;
  };
  if (!fits(kMostShards)) {
    const std::uint64_t points = std::min(rows_of_shard(rows, kMostShards), kMostInShard);
    throw OutOfMemory(fmt::format(
        "not enough memory: with {} shards, the most that there can be, one of them needs {} bytes to be built",
        kMostShards, memory_to_allow(bytes_to_build(points, shape, build))));
  }
  std::uint32_t low = 1, high = kMostShards;  // `high` fits
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (fits(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return high;
}

StoredCutSizes cut_sizes_that_fit(std::uint64_t rows, ShardShape shape, std::uint32_t shards, int threads,
                                  std::uint64_t usable) {
  const auto workers = static_cast<std::uint64_t>(runtime::resolve_threads(threads));
  const std::uint64_t row_bytes = std::uint64_t{shape.dims} * size_of(shape.dtype);
  const std::uint64_t counts = kBins * sizeof(std::uint64_t) * (shards / 2 + 1) * (workers + 2);
  const std::uint64_t fixed = counts + workers * kReadBytes;
  const std::uint64_t block_row = 2 * row_bytes + kCutBytes, kept_row = row_bytes + kCutBytes;
  const std::uint64_t least = fixed + kLeastBlockRows * block_row;
  if (usable < least) {
    throw OutOfMemory(
        fmt::format("not enough memory: cutting {} shards needs {} bytes", shards, memory_to_allow(least)));
  }
  const std::uint64_t space = usable - fixed;
  StoredCutSizes sizes;
  sizes.block_rows =
      std::clamp(std::min(space / 4, kMostBlockBytes) / block_row, kLeastBlockRows, std::max(rows, kLeastBlockRows));
  sizes.kept_rows = std::min(rows, (space - std::min(space, sizes.block_rows * block_row)) / kept_row);
  return sizes;
}

}  // namespace kith::shards
