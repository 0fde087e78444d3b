// Which part of a scan is a block's: some queries and a piece of the tiles.
//
// Blocks with the same piece and other queries come one after the other, so that they read the same tiles at about the
// same time. How many queries there are may be known on the device only: then all blocks share those that there are.
#pragma once

#include "cuda/brute_force/scan/scan_types.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <algorithm>
#include <cstdint>

namespace kith::cuda {

struct ScanPart {
  std::uint64_t first_query = 0;
  std::uint32_t queries = 0;     ///< 0: there is nothing to do
  std::uint32_t first_tile = 0;  ///< of the order, as the task has them; no scan has 2^26
  std::uint32_t end_tile = 0;
};

/// `per_block` queries are together in a block.
template <typename T>
__device__ ScanPart scan_part(const ScanTask<T>& task, std::uint32_t per_block) {
  std::uint64_t count = task.queries.count;
  if (task.queries.chosen_count != nullptr && *task.queries.chosen_count < count) count = *task.queries.chosen_count;
  ScanPart part;
  const auto sets = static_cast<std::uint32_t>((count + per_block - 1) / per_block);
  if (sets == 0) return part;
  const std::uint64_t tiles = task.end_tile - task.first_tile;
  std::uint64_t pieces = blocks_in_grid() / sets;
  if (pieces > tiles) pieces = tiles;
  const std::uint32_t piece = block_number() / sets;
  if (piece >= pieces) return part;
  part.first_query = std::uint64_t{block_number() % sets} * per_block;
  part.queries =
      count - part.first_query < per_block ? static_cast<std::uint32_t>(count - part.first_query) : per_block;
  part.first_tile = static_cast<std::uint32_t>(task.first_tile + tiles * piece / pieces);
  part.end_tile = static_cast<std::uint32_t>(task.first_tile + tiles * (piece + 1) / pieces);
  return part;
}

/// Tiles as kernels count them.
__device__ __forceinline__ std::uint32_t tile_at(const TileOrder& order, std::uint32_t i) {
  return static_cast<std::uint32_t>(order.at(i));
}
__device__ __forceinline__ std::uint32_t tile_after(const TileOrder& order, std::uint32_t tile) {
  return static_cast<std::uint32_t>(order.after(tile));
}
/// As many steps on as led from tile 0 to `step`.
__device__ __forceinline__ std::uint32_t tile_after(const TileOrder& order, std::uint32_t tile, std::uint32_t step) {
  const auto tiles = static_cast<std::uint32_t>(order.tiles);
  return tile + step < tiles ? tile + step : tile + step - tiles;
}

/// How many blocks to launch: whole waves of `slots` blocks, as many as leave `fewest_tiles` for each, and at least one
/// block for each set of queries.
inline std::uint32_t scan_blocks(std::uint64_t queries, std::uint32_t per_block, std::uint64_t tiles,
                                 std::uint64_t slots, std::uint64_t fewest_tiles) {
  constexpr std::uint64_t kMostWaves = 16;
  const std::uint64_t sets = (queries + per_block - 1) / per_block;
  std::uint64_t pieces = 1;
  for (std::uint64_t waves = kMostWaves; waves > 0; --waves) {
    pieces = std::max<std::uint64_t>(waves * slots / sets, 1);
    if (pieces == 1 || tiles / pieces >= fewest_tiles) break;
  }
  pieces = std::clamp<std::uint64_t>(tiles / fewest_tiles, 1, pieces);
  return static_cast<std::uint32_t>(sets * pieces);
}

}  // namespace kith::cuda
