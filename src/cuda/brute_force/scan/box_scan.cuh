// Points in boxes, a block per box that looks at all points in their order: how many, then which, ascending. Few boxes
// are cut: then a block takes a piece of the points, and the lists of all pieces are the list of the box.
#pragma once

#include "cuda/brute_force/scan/scan_types.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// Points in boxes, faces included: first how many, then which.
template <typename T>
struct BoxScanTask {
  ScanPoints<T> points = {};
  SearchFilter filter = {};  ///< `allowed` and `below` only
  const T* lower = nullptr;  ///< count x dims
  const T* upper = nullptr;
  std::uint64_t count = 0;
  std::uint32_t pieces = 1;               ///< of the points
  std::uint32_t* counts = nullptr;        ///< [box][piece], written by the first kernel
  const std::uint64_t* starts = nullptr;  ///< [box][piece], read by the second one
  std::uint64_t starts_base = 0;          ///< subtracted from `starts`
  std::uint32_t* indices = nullptr;
};

inline constexpr std::uint32_t kBoxScanThreads = 256;
inline constexpr std::uint32_t kBoxScanWarps = kBoxScanThreads / kWarp;
inline constexpr std::uint32_t kBoxScanRows = kWarp / kBoxScanWarps;  ///< points of a thread; a word per lane and warp

/// Two sets of counts of points, a word for each warp's lanes full of points.
struct BoxScanStorage {
  std::uint32_t taken[2][kWarp];
};

/// A lower face that is NaN or above the upper one admits no point.
template <typename T>
__device__ bool is_in_box(const BoxScanTask<T>& task, std::uint64_t box, std::uint32_t end, std::uint64_t point) {
  if (point >= end) return false;
  const std::uint32_t dims = task.points.dims;
  const T* values = task.points.rows + point * dims;
  const T* lower = task.lower + box * dims;
  const T* upper = task.upper + box * dims;
  for (std::uint32_t d = 0; d < dims; ++d) {
    const T value = values[d];
    if (!(lower[d] <= value && value <= upper[d])) return false;
  }
  return task.filter.admits(kNoPoint, end, static_cast<std::uint32_t>(point));
}

template <typename T, bool kWrites>
__global__ void __launch_bounds__(kBoxScanThreads) scan_boxes(const __grid_constant__ BoxScanTask<T> task) {
  auto& storage = *reinterpret_cast<BoxScanStorage*>(shared_memory());
  std::uint32_t parity = 0;
  for (std::uint64_t list = block_number(); list < task.count * task.pieces; list += blocks_in_grid()) {
    const std::uint64_t box = list / task.pieces, piece = list % task.pieces;
    std::uint32_t end = task.filter.end(0, box);
    const auto piece_end = static_cast<std::uint32_t>(task.points.count * (piece + 1) / task.pieces);
    if (end > piece_end) end = piece_end;
    std::uint64_t found = kWrites ? task.starts[list] - task.starts_base : 0;
    for (std::uint64_t first = task.points.count * piece / task.pieces; first < end;
         first += kBoxScanThreads * kBoxScanRows) {
      std::uint32_t taken[kBoxScanRows];
#pragma unroll
      for (std::uint32_t r = 0; r < kBoxScanRows; ++r) {
        taken[r] = ballot(is_in_box(task, box, end, first + r * kBoxScanThreads + thread_number()));
      }
      if constexpr (!kWrites) {
#pragma unroll
        for (std::uint32_t r = 0; r < kBoxScanRows; ++r) found += count_bits(taken[r]);
      } else {
        if (lane_number() == 0) {
#pragma unroll
          for (std::uint32_t r = 0; r < kBoxScanRows; ++r) {
            storage.taken[parity][r * kBoxScanWarps + warp_number()] = count_bits(taken[r]);
          }
        }
        sync_block();
        const std::uint32_t own = storage.taken[parity][lane_number()];
        parity ^= 1;  // the next round writes elsewhere; the one after it comes behind another barrier
        const std::uint32_t all = sum_of_warp(own);
        if (all == 0) continue;
        std::uint32_t sum = own;
        for (std::uint32_t delta = 1; delta < kWarp; delta *= 2) {
          const std::uint32_t before = shuffle_up(sum, delta);
          if (lane_number() >= delta) sum += before;
        }
#pragma unroll
        for (std::uint32_t r = 0; r < kBoxScanRows; ++r) {
          const std::uint32_t before = shuffle(sum - own, r * kBoxScanWarps + warp_number());
          if ((taken[r] >> lane_number() & 1) != 0) {
            const std::uint32_t at = before + count_bits(taken[r] & ((1u << lane_number()) - 1));
            task.indices[found + at] = static_cast<std::uint32_t>(first + r * kBoxScanThreads + thread_number());
          }
        }
        found += all;
      }
    }
    if constexpr (!kWrites) {  // each warp has counted its own
      sync_block();
      if (lane_number() == 0) storage.taken[0][warp_number()] = static_cast<std::uint32_t>(found);
      sync_block();
      const std::uint32_t all = sum_of_warp(lane_number() < kBoxScanWarps ? storage.taken[0][lane_number()] : 0);
      if (thread_number() == 0) task.counts[list] = all;
    }
  }
}

inline constexpr std::uint32_t kDifferenceThreads = 256;

/// counts[i] becomes what the sums grow by over `pieces` of them, from the first of list i on.
template <typename V>
__global__ void __launch_bounds__(kDifferenceThreads)
    differences(const V* sums, std::uint64_t lists, std::uint32_t pieces, std::uint32_t* counts) {
  const std::uint64_t i = std::uint64_t{block_number()} * kDifferenceThreads + thread_number();
  if (i < lists) counts[i] = static_cast<std::uint32_t>(sums[(i + 1) * pieces] - sums[i * pieces]);
}

/// How many pieces keep the whole GPU busy.
inline std::uint32_t box_scan_pieces(std::uint64_t boxes, std::uint64_t points, std::uint32_t processors) {
  constexpr std::uint64_t kResident = 8, kFewestPoints = 4 * kBoxScanThreads * kBoxScanRows;
  const std::uint64_t pieces = processors * kResident / std::max<std::uint64_t>(boxes, 1);
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(points / kFewestPoints, 1, std::max<std::uint64_t>(pieces, 1)));
}

/// `counts` are written, or `indices` if `writes`.
template <typename T, typename Launch>
void launch_box_scan(const BoxScanTask<T>& task, bool writes, Launch&& launch) {
  constexpr std::uint64_t kMostBlocks = 1 << 16;
  if (task.count == 0) return;
  const auto blocks = static_cast<std::uint32_t>(std::min(task.count * task.pieces, kMostBlocks));
  if (writes) {
    launch(scan_boxes<T, true>, blocks, kBoxScanThreads, sizeof(BoxScanStorage), task);
  } else {
    launch(scan_boxes<T, false>, blocks, kBoxScanThreads, sizeof(BoxScanStorage), task);
  }
}

}  // namespace kith::cuda
