// Gives candidates that a filter has offered their exact chains (L2, in the contract's order). Those that are not below
// the limit of their query are replaced by the sentinel.
//
// A warp takes a query, or a part of its candidates if there are few queries; a lane takes a candidate. Rows come
// through shared memory, 128 bytes of 32 candidates at a time and some of these ahead, so each line of a row is read
// once and whole. Rows that are not aligned to 16 bytes are read by their lanes.
#pragma once

#include "core/metric/reduced_distance.hpp"
#include "cuda/brute_force/scan/scan_types.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kith::cuda {

inline constexpr std::uint32_t kRerankWarps = 4;
inline constexpr std::uint32_t kRerankStages = 3;
inline constexpr std::uint32_t kRerankDims = 32;  // of a row at a time
inline constexpr std::uint32_t kRerankRowBytes = kRerankDims * sizeof(float);
inline constexpr std::uint32_t kRerankStageBytes = kWarp * kRerankRowBytes;

/// Four coordinates that lie side by side.
struct alignas(16) FourCoordinates {
  float values[4];
};

/// Some candidates of a query: 32 entries from `first` on, then others every `step` entries, below `end`.
struct CandidateRange {
  const Entry<float>* entries;
  std::uint32_t first, end, step;
};

/// Walks over candidates, 32 of them and 32 dims at a time, and copies these parts of their rows. Piece c of 16 bytes
/// of row r is at place c ^ (r % 8), so that neither copies nor lanes that read their rows conflict in a bank.
class CandidateCopies {
 public:
  __device__ CandidateCopies(const ScanPoints<float>& points, const CandidateRange& range, std::uint32_t stages)
      : range_(range), stages_(stages), rows_(points.rows), dims_(points.dims) {}

  /// The next part, if there is one.
  __device__ void start(std::uint32_t stage) {
    constexpr std::uint32_t kPieces = kRerankRowBytes / 16;
    if (range_.first < range_.end) {
      const std::uint32_t entry = range_.first + lane_number();
      if (dim_ == 0) number_ = entry < range_.end ? range_.entries[entry].number() : kNoPoint;
      const std::uint32_t piece = lane_number() % kPieces;
      const std::uint32_t to = stages_ + stage * kRerankStageBytes;
#pragma unroll
      for (std::uint32_t i = 0; i < kPieces; ++i) {
        const std::uint32_t row = i * (kWarp / kPieces) + lane_number() / kPieces;
        const std::uint32_t number = shuffle(number_, row);
        if (number != kNoPoint && dim_ + 4 * piece < dims_) {
          copy_16_to_shared(to + row * kRerankRowBytes + ((piece ^ row % 8) << 4),
                            rows_ + std::uint64_t{number} * dims_ + dim_ + 4 * piece);
        }
      }
      dim_ += kRerankDims;
      if (dim_ >= dims_) {
        dim_ = 0;
        range_.first += range_.step;
      }
    }
    commit_copies();
  }

 private:
  CandidateRange range_;
  std::uint32_t stages_;
  const float* rows_;
  std::uint32_t dims_;
  std::uint32_t dim_ = 0;
  std::uint32_t number_ = kNoPoint;
};

/// Goes on with a reduced distance by four dims.
inline __device__ float four_steps(float sum, const float* query, std::uint32_t row, std::uint32_t piece) {
  const auto ours = *reinterpret_cast<const FourCoordinates*>(query + 4 * piece);
  const auto theirs = *at_shared<const FourCoordinates>(row + ((piece ^ lane_number() % 8) << 4));
#pragma unroll
  for (std::uint32_t i = 0; i < 4; ++i) sum = core::step_of_gap(core::L2{}, sum, ours.values[i] - theirs.values[i]);
  return sum;
}

/// Calls rank(entry, reduced distance) for each candidate, `query` is in shared memory.
template <bool kByFour, typename Rank>
__device__ void reduced_of_candidates(const ScanPoints<float>& points, const float* query, CandidateRange range,
                                      std::uint32_t stages, Rank&& rank) {
  if constexpr (kByFour) {
    CandidateCopies copies(points, range, stages);
#pragma unroll
    for (std::uint32_t stage = 0; stage < kRerankStages - 1; ++stage) copies.start(stage);
    std::uint32_t stage = 0;
    for (; range.first < range.end; range.first += range.step) {
      float sum = 0;
      for (std::uint32_t dim = 0; dim < points.dims; dim += kRerankDims) {
        wait_for_copies_but<kRerankStages - 2>();
        sync_warp();  // this part is there, for all lanes, and the one before is not needed any more
        copies.start(stage == 0 ? kRerankStages - 1 : stage - 1);
        const std::uint32_t row = stages + stage * kRerankStageBytes + lane_number() * kRerankRowBytes;
        if (dim + kRerankDims <= points.dims) {
#pragma unroll
          for (std::uint32_t piece = 0; piece < kRerankDims / 4; ++piece) {
            sum = four_steps(sum, query + dim, row, piece);
          }
        } else {
          for (std::uint32_t piece = 0; dim + 4 * piece < points.dims; ++piece) {
            sum = four_steps(sum, query + dim, row, piece);
          }
        }
        stage = stage + 1 == kRerankStages ? 0 : stage + 1;
      }
      if (range.first + lane_number() < range.end) rank(range.first + lane_number(), sum);
    }
  } else {
    for (std::uint32_t i = range.first + lane_number(); i < range.end; i += range.step) {
      const float* point = points.rows + std::uint64_t{range.entries[i].number()} * points.dims;
      float sum = 0;
#pragma unroll 8
      for (std::uint32_t d = 0; d < points.dims; ++d) sum = core::step_of_gap(core::L2{}, sum, query[d] - point[d]);
      rank(i, sum);
    }
  }
}

/// The entries [kept[q], counts[q]) of each query q, as far as they have room; `parts` warps share them.
template <bool kByFour>
__global__ void __launch_bounds__(kRerankWarps* kWarp)
    rerank(ScanTask<float> scan, const std::uint32_t* kept, std::uint32_t parts, std::uint32_t warp_bytes) {
  const std::uint32_t warps = threads_per_block() / kWarp;
  std::byte* storage = shared_memory() + warp_number() * warp_bytes;
  auto* query = reinterpret_cast<float*>(storage + (kByFour ? kRerankStages * kRerankStageBytes : 0));
  const std::uint64_t queries =
      scan.queries.chosen_count == nullptr ? scan.queries.count : std::uint64_t{*scan.queries.chosen_count};
  for (std::uint64_t unit = std::uint64_t{block_number()} * warps + warp_number(); unit < queries * parts;
       unit += std::uint64_t{blocks_in_grid()} * warps) {
    const std::uint64_t q = unit / parts;
    Entry<float>* entries = scan.lists.entries + q * scan.lists.capacity;
    const std::uint32_t count = scan.lists.counts[q];
    const CandidateRange range{entries, kept[q] + static_cast<std::uint32_t>(unit % parts) * kWarp,
                               count < scan.lists.capacity ? count : scan.lists.capacity, parts * kWarp};
    if (range.first >= range.end) continue;
    sync_warp();  // the last query is no longer read
    const float* row = scan.queries.rows + scan.queries.row_of(q) * scan.queries.row_stride;
    for (std::uint32_t d = lane_number(); d < scan.points.dims; d += kWarp) query[d] = row[d];
    sync_warp();
    const Entry<float> limit = scan.lists.limits[q];
    reduced_of_candidates<kByFour>(scan.points, query, range, shared_address(storage),
                                   [&](std::uint32_t i, float reduced) {
                                     const Entry<float> entry(reduced, entries[i].number());
                                     entries[i] = entry < limit ? entry : Entry<float>::none();
                                   });
  }
}

/// `kept` says, by query, how many entries have their reduced distances already.
template <typename Launch>
void launch_rerank(const ScanTask<float>& scan, const std::uint32_t* kept, std::uint32_t processors, Launch&& launch) {
  if (scan.queries.count == 0) return;
  constexpr std::uint64_t kMostBlocks = 1 << 16;
  constexpr std::uint64_t kMostParts = 8, kWarpsPerProcessor = 16;
  constexpr std::uint32_t kSharedBytes = 64 << 10;
  // Rows of no more than one part have nothing to wait for but their own first line.
  const bool by_four = reinterpret_cast<std::uintptr_t>(scan.points.rows) % sizeof(FourCoordinates) == 0 &&
                       scan.points.dims % 4 == 0 && scan.points.dims > kRerankDims;
  const std::uint32_t query_bytes = (scan.points.dims + 3) / 4 * 16;
  const std::uint32_t warp_bytes = query_bytes + (by_four ? kRerankStages * kRerankStageBytes : 0);
  const std::uint32_t warps = std::clamp(kSharedBytes / warp_bytes, 1u, kRerankWarps);
  const std::uint64_t parts =
      std::clamp<std::uint64_t>(processors * kWarpsPerProcessor / scan.queries.count, 1, kMostParts);
  const std::uint64_t blocks = (scan.queries.count * parts + warps - 1) / warps;
  launch(by_four ? rerank<true> : rerank<false>, static_cast<std::uint32_t>(std::min(blocks, kMostBlocks)),
         warps * kWarp, std::size_t{warps} * warp_bytes, scan, kept, static_cast<std::uint32_t>(parts), warp_bytes);
}

}  // namespace kith::cuda
