// Labels by votes of long lists, a warp for each query. Tickets as in vote_by_threads.cuh: a warp only waits
// for warps that are running.
#pragma once

#include "cuda/labels/neighbor_row.cuh"

#include <bit>

namespace kith::cuda {

inline constexpr std::uint32_t kVoteWarps = 4;

/// core::vote_of_few by a warp: each lane sums up the labels that come first in the list at its places. Few classes are
/// soon met again, so this takes about count * (classes + 1) / 32 steps, and never more than count² / 32.
template <typename T>
__device__ std::uint32_t vote_of_warp(const std::uint32_t* labels, std::uint32_t count, const NeighborRow<T>& list,
                                      core::TieRule ties) {
  std::uint64_t most = 0;  // bits of a sum, which is never negative
  std::uint32_t place = 0xffffffff, rank = 0xffffffff;
  for (std::uint32_t j = lane_number(); j < count; j += kWarp) {
    const std::uint32_t own = labels[j];
    bool came_before = false;
    for (std::uint32_t i = 0; i < j && !came_before; ++i) came_before = labels[i] == own;
    if (came_before) continue;
    double sum = 0;
    for (std::uint32_t i = j; i < count; ++i) {
      if (labels[i] == own) sum += list.weight(i);
    }
    const auto bits = std::bit_cast<std::uint64_t>(sum);
    if (bits > most || (bits == most && ties.rank(own) < rank)) {
      most = bits;
      place = j;
      rank = ties.rank(own);
    }
  }
  // The nearest neighbour counts 1, so the winner has more than 0.
  if (most != max_of_warp(most)) place = rank = 0xffffffff;
  if (rank != min_of_warp(rank)) place = 0xffffffff;
  place = min_of_warp(place);
  return place < count ? labels[place] : 0;
}

template <typename T>
__global__ void __launch_bounds__(kVoteWarps* kWarp) vote_by_warps(const __grid_constant__ VoteTask<T> task) {
  std::uint32_t* labels =
      task.scratch + (std::uint64_t{block_number()} * kVoteWarps + warp_number()) * std::uint64_t{task.rows.k};
  std::uint32_t deepest = 0;
  for (;;) {
    std::uint32_t row = 0;
    if (lane_number() == 0) row = atomic_add(task.ticket, 1u);
    row = shuffle(row, 0);
    if (row >= task.rows.count) break;
    const NeighborRow<T> list(task.rows, row);
    std::uint32_t seen = 0, depth = 0;
    std::uint32_t neighbor = list.index(lane_number());
    while (any_lane(neighbor < task.rows.missing)) {
      std::uint64_t word = FoundLabel::kNotYet;
      if (neighbor < task.rows.missing) word = label_now(task.known, neighbor);
      if (word != FoundLabel::kNotYet) {
        labels[seen * kWarp + lane_number()] = FoundLabel::label(word);
        depth = FoundLabel::depth(word) > depth ? FoundLabel::depth(word) : depth;
        ++seen;
        neighbor = list.index(seen * kWarp + lane_number());
      }
      if (!any_lane(word != FoundLabel::kNotYet)) wait_a_little();
    }
    sync_warp();
    const std::uint32_t count = sum_of_warp(seen);
    const std::uint32_t winner = vote_of_warp(labels, count, list, task.ties);
    depth = max_of_warp(depth) + 1;
    deepest = depth > deepest ? depth : deepest;
    if (lane_number() == 0) {
      const std::uint64_t query = task.first_row + row;
      if (count == 0) atomic_min(&task.report->first_empty, query);
      if (task.known.found != nullptr) store_now(task.known.found + query, FoundLabel::word(winner, depth));
      task.labels[query] = winner;
    }
    sync_warp();  // all have read the labels
  }
  if (lane_number() == 0 && deepest > 0) atomic_max(&task.report->depth, deepest);
}

}  // namespace kith::cuda
