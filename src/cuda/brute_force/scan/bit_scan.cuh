// Scans by the Hamming distance. A row is a row of words whose bits count; there is an even number of words, and they
// are kept as f32, which are copied like coordinates and never computed with.
//
// Counting bits is what takes time: a quarter of the speed of other instructions. Of three words each bit is added
// first, two instructions for ones and twos, so that of four words only three are counted. Many queries are scanned
// tile by tile as in scan_wide.cuh; a few at the speed of global memory, a warp per tile and a lane per point.
#pragma once

#include "cuda/brute_force/scan/scan_part.cuh"
#include "cuda/brute_force/scan/scan_wide.cuh"
#include "cuda/brute_force/scan/resolve_pairs.cuh"
#include "cuda/brute_force/scan/stage_rows.cuh"
#include "cuda/brute_force/scan/tile_shape.cuh"

#include <bit>
#include <cstdint>

namespace kith::cuda {

/// Words of a row that are read at once; `kWidth` is 2 or 4.
template <std::uint32_t kWidth>
struct alignas(4 * kWidth) BitVector {
  float values[kWidth];
};

/// The words in which two words that are kept as f32 differ.
__device__ __forceinline__ std::uint32_t different_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) ^ std::bit_cast<std::uint32_t>(b);
}

__device__ __forceinline__ std::uint32_t count_of(const std::uint32_t (&words)[2]) {
  return count_bits(words[0]) + count_bits(words[1]);
}
__device__ __forceinline__ std::uint32_t count_of(const std::uint32_t (&words)[4]) {
  const std::uint32_t ones = words[0] ^ words[1] ^ words[2];
  const std::uint32_t twos = (words[0] & words[1]) | (words[0] & words[2]) | (words[1] & words[2]);
  return count_bits(ones) + count_bits(words[3]) + 2 * count_bits(twos);
}

/// How many bits of two rows differ, one by one; for what is rare.
__device__ __forceinline__ float hamming_distance(const float* query, const float* point, std::uint32_t words) {
  std::uint32_t sum = 0;
  for (std::uint32_t w = 0; w < words; ++w) sum += count_bits(different_bits(query[w], point[w]));
  return static_cast<float>(sum);
}

/// Sums begin with these bits, those of 2^23 as f32, and stay below 2^21 more: then their bits are those of 2^23 + sum,
/// and a subtraction makes a number of them, four times as fast as a conversion.
inline constexpr std::uint32_t kSumBegin = 0x4b000000;
__device__ __forceinline__ float number_of(std::uint32_t sum) { return std::bit_cast<float>(sum) - 8388608.0f; }

/// Tiles of queries and points. kStep words are computed at once; the last of them may be zeros.
template <std::uint32_t kStep>
__global__ void __launch_bounds__(TileShape<float>::kThreads, 2)
    scan_bits(const __grid_constant__ ScanTask<float> task) {
  using Shape = TileShape<float>;
  using Storage = WideStorage<float>;
  using Vector = ScanVector<float>;
  static_assert(Storage::kSlab % kStep == 0);
  auto& storage = *reinterpret_cast<Storage*>(shared_memory());
  const ScanPart part = scan_part(task, Shape::kQueries);
  if (part.queries == 0) return;
  for (std::uint32_t i = thread_number(); i < Shape::kQueries; i += Shape::kThreads) {
    const std::uint32_t query = i < part.queries ? i : part.queries - 1;
    storage.query_starts[i] = task.queries.row_of(part.first_query + query) * task.queries.row_stride;
  }
  sync_block();
  PairResolver<float, WideStorage<float>::kDepth> resolver(task, part, storage.resolve);
  const std::uint32_t first_query = Shape::first_query(), first_point = Shape::first_point();
  for (std::uint32_t i = thread_number(); i < Shape::kQueries; i += Shape::kThreads)
    storage.limits[i] = resolver.limit(i);

  const std::uint32_t words = task.points.dims;
  const bool is_one_slab = words <= Storage::kSlab;  // then the queries stay
  const auto stage = [&](std::uint32_t to, std::uint32_t from, std::uint32_t first_word, bool with_queries) {
    const std::uint64_t first = std::uint64_t{from} * kTilePoints, behind = task.points.count - 1 - first;
    const std::uint32_t last = behind < kTilePoints ? static_cast<std::uint32_t>(behind) : kTilePoints - 1;
    const float* points = task.points.rows + (first * words + first_word);
    stage_slab<Storage::kSlab, kTilePoints, Shape::kPointStride>(
        [&](std::uint32_t row) { return points + (row < last ? row : last) * words; }, words - first_word,
        &storage.points[to][0][0]);
    if (!with_queries) return;
    const float* queries = task.queries.rows + first_word;
    stage_slab<Storage::kSlab, Shape::kQueries, Shape::kQueryStride>(
        [&](std::uint32_t row) { return queries + storage.query_starts[row]; }, words - first_word,
        &storage.queries[to][0][0]);
  };

  std::uint32_t tile = tile_at(task.order, part.first_tile);
  stage(0, tile, 0, true);
  std::uint32_t buffer = 0;
  for (std::uint32_t i_tile = part.first_tile; i_tile < part.end_tile; ++i_tile) {
    const std::uint32_t next_tile = tile_after(task.order, tile);
    std::uint32_t sums[Shape::kRuns][Shape::kRows][Shape::kWidth];
#pragma unroll
    for (std::uint32_t r = 0; r < Shape::kRuns; ++r) {
#pragma unroll
      for (std::uint32_t i = 0; i < Shape::kRows; ++i) {
#pragma unroll
        for (std::uint32_t j = 0; j < Shape::kWidth; ++j) sums[r][i][j] = kSumBegin;
      }
    }
#pragma unroll 1
    for (std::uint32_t first_word = 0; first_word < words; first_word += Storage::kSlab, buffer ^= 1) {
      wait_for_copies();
      sync_block();  // this slab is complete, and the one before is no longer read
      const bool is_last = first_word + Storage::kSlab >= words;
      if (!is_last || i_tile + 1 < part.end_tile) {
        stage(buffer ^ 1, is_last ? next_tile : tile, is_last ? 0 : first_word + Storage::kSlab, !is_one_slab);
      }
      const std::uint32_t depth = words - first_word < Storage::kSlab ? words - first_word : Storage::kSlab;
      const float* query_line = &storage.queries[is_one_slab ? 0 : buffer][0][first_query];
      const float* point_line = &storage.points[buffer][0][first_point];
#pragma unroll 1
      for (std::uint32_t w = 0; w < depth; w += kStep) {
#pragma unroll
        for (std::uint32_t r = 0; r < Shape::kRuns; ++r) {
          Vector points[kStep];
#pragma unroll
          for (std::uint32_t u = 0; u < kStep; ++u) {
            points[u] = *reinterpret_cast<const Vector*>(point_line + (u * Shape::kPointStride + r * Shape::kSpan));
          }
#pragma unroll
          for (std::uint32_t g = 0; g < 2; ++g) {
            Vector queries[kStep];
#pragma unroll
            for (std::uint32_t u = 0; u < kStep; ++u) {
              queries[u] = *reinterpret_cast<const Vector*>(query_line + (u * Shape::kQueryStride + g * Shape::kSpan));
            }
#pragma unroll
            for (std::uint32_t i = 0; i < Shape::kWidth; ++i) {
#pragma unroll
              for (std::uint32_t j = 0; j < Shape::kWidth; ++j) {
                std::uint32_t differ[kStep];
#pragma unroll
                for (std::uint32_t u = 0; u < kStep; ++u) {
                  differ[u] = different_bits(queries[u].values[i], points[u].values[j]);
                }
                sums[r][g * Shape::kWidth + i][j] += count_of(differ);
              }
            }
          }
        }
        query_line += kStep * Shape::kQueryStride;
        point_line += kStep * Shape::kPointStride;
      }
    }
    float limits[Shape::kRows];  // they are in the way while pairs grow
#pragma unroll
    for (std::uint32_t g = 0; g < 2; ++g) {
      const auto vector = *reinterpret_cast<const Vector*>(&storage.limits[first_query + g * Shape::kSpan]);
#pragma unroll
      for (std::uint32_t j = 0; j < Shape::kWidth; ++j) limits[g * Shape::kWidth + j] = vector.values[j];
    }
#pragma unroll
    for (std::uint32_t r = 0; r < Shape::kRuns; ++r) {
      float reduced[Shape::kRows][Shape::kWidth];
#pragma unroll
      for (std::uint32_t i = 0; i < Shape::kRows; ++i) {
#pragma unroll
        for (std::uint32_t j = 0; j < Shape::kWidth; ++j) reduced[i][j] = number_of(sums[r][i][j]);
      }
      const std::uint32_t position = r * Shape::kSpan + first_point;
      resolver.resolve(
          reduced, limits, [&](std::uint32_t i) { return first_query + Shape::query_step(i); },
          [&] {
            return PointRun{std::uint64_t{tile} * kTilePoints + position,
                            (i_tile - task.first_tile) * kTilePoints + position};
          });
    }
    tile = next_tile;
  }
  resolver.finish();
}

inline constexpr std::uint32_t kFewBitWarps = 4;

template <std::uint32_t kRows>
struct FewBitStorage {
  ResolveStorage<float, kFewBitWarps, kRows> resolve;
};

/// kRows queries of a block at a time; kWidth words are read at once, and rows of points and queries begin and end
/// where vectors do.
template <std::uint32_t kRows, std::uint32_t kWidth>
__global__ void __launch_bounds__(kFewBitWarps* kWarp) scan_few_bits(const __grid_constant__ ScanTask<float> task) {
  using Vector = BitVector<kWidth>;
  auto& storage = *reinterpret_cast<FewBitStorage<kRows>*>(shared_memory());
  const ScanPart part = scan_part(task, kRows);
  if (part.queries == 0) return;
  PairResolver<float> resolver(task, part, storage.resolve);
  const std::uint32_t vectors = task.points.dims / kWidth;
  const Vector* queries[kRows];
  float limits[kRows];
#pragma unroll
  for (std::uint32_t i = 0; i < kRows; ++i) {
    limits[i] = resolver.limit(i);
    const std::uint64_t query = part.first_query + (i < part.queries ? i : part.queries - 1);
    queries[i] =
        reinterpret_cast<const Vector*>(task.queries.rows + task.queries.row_of(query) * task.queries.row_stride);
  }
  // The warps of a block take turns.
  for (std::uint32_t i_tile = part.first_tile + warp_number(); i_tile < part.end_tile; i_tile += kFewBitWarps) {
    const std::uint64_t first = std::uint64_t{tile_at(task.order, i_tile)} * kTilePoints;
#pragma unroll 1
    for (std::uint32_t position = lane_number(); position < kTilePoints; position += kWarp) {
      const std::uint64_t number = first + position;
      const std::uint64_t existing = number < task.points.count ? number : task.points.count - 1;
      const auto* point = reinterpret_cast<const Vector*>(task.points.rows + existing * task.points.dims);
      std::uint32_t sums[kRows] = {};
#pragma unroll 2
      for (std::uint32_t v = 0; v < vectors; ++v) {
        const Vector words = point[v];
#pragma unroll
        for (std::uint32_t i = 0; i < kRows; ++i) {
          const Vector query = queries[i][v];
          std::uint32_t differ[kWidth];
#pragma unroll
          for (std::uint32_t u = 0; u < kWidth; ++u) differ[u] = different_bits(query.values[u], words.values[u]);
          sums[i] += count_of(differ);
        }
      }
      float reduced[kRows][1];
#pragma unroll
      for (std::uint32_t i = 0; i < kRows; ++i) reduced[i][0] = static_cast<float>(sums[i]);
      resolver.resolve(
          reduced, limits, [](std::uint32_t i) { return i; },
          [&] {
            return PointRun{number, (i_tile - task.first_tile) * kTilePoints + position};
          });
    }
  }
  resolver.finish();
}

template <std::uint32_t kRows, std::uint32_t kWidth, typename Launch>
void launch_scan_few_bits(const ScanTask<float>& task, std::uint32_t processors, Launch&& launch) {
  constexpr std::uint64_t kResident = 8, kFewestTiles = 4 * kFewBitWarps;
  const std::uint32_t blocks =
      scan_blocks(task.queries.count, kRows, task.end_tile - task.first_tile, processors * kResident, kFewestTiles);
  launch(scan_few_bits<kRows, kWidth>, blocks, kFewBitWarps * kWarp, sizeof(FewBitStorage<kRows>), task);
}

template <std::uint32_t kStep, typename Launch>
void launch_scan_many_bits(const ScanTask<float>& task, std::uint32_t processors, Launch&& launch) {
  constexpr std::uint64_t kResident = 2, kFewestWords = 64;  // in all tiles of a block
  const std::uint64_t fewest_tiles = (kFewestWords + task.points.dims - 1) / task.points.dims;
  const std::uint32_t blocks = scan_blocks(task.queries.count, TileShape<float>::kQueries,
                                           task.end_tile - task.first_tile, processors * kResident, fewest_tiles);
  launch(scan_bits<kStep>, blocks, TileShape<float>::kThreads, sizeof(WideStorage<float>), task);
}

/// The task says that rows are words; there are an even number of them. Rows begin at multiples of 8 bytes, or of 16 if
/// the words are a multiple of 4.
template <typename Launch>
void launch_bit_scan(const ScanTask<float>& task, std::uint32_t processors, Launch&& launch) {
  constexpr std::uint64_t kFew = 32;  // more of them are a good part of a tile
  const bool are_fours = task.points.dims % 4 == 0 && task.queries.row_stride % 4 == 0;
  if (task.queries.count > kFew) {
    return task.points.dims % 4 == 0 || task.points.dims > 8 ? launch_scan_many_bits<4>(task, processors, launch)
                                                             : launch_scan_many_bits<2>(task, processors, launch);
  }
  if (task.queries.count == 1) {
    return are_fours ? launch_scan_few_bits<1, 4>(task, processors, launch)
                     : launch_scan_few_bits<1, 2>(task, processors, launch);
  }
  return are_fours ? launch_scan_few_bits<8, 4>(task, processors, launch)
                   : launch_scan_few_bits<8, 2>(task, processors, launch);
}

}  // namespace kith::cuda
