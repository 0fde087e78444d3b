// Labels by votes of short lists, a thread for each query.
//
// New points may be neighbours of later ones. Warps draw tickets: the next 32 queries in the order of their numbers. A
// query waits for queries of lower numbers only, and those belong to warps that drew before, so that are running, or to
// lanes of its own warp. So that no lane waits for one beside it that cannot go on, the lanes look, all together, at
// one neighbour each, again and again, and a lane that has seen all of its own votes meanwhile. Labels within the warp
// are handed over in registers: a chain of queries, each a neighbour of the next, costs little more than the votes.
// Those are slow one by one, so at `most_depth` the tickets are closed, and warps that wait in vain leave.
#pragma once

#include "cuda/labels/neighbor_row.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t kVoteThreads = 256;
/// Per processor. Those that wait for labels look at them again and again: more of them would be in each other's way.
inline constexpr std::uint32_t kVoteBlocks = 4;
/// Above all tickets: there are no more.
inline constexpr std::uint32_t kClosed = 1u << 31;
/// A warp that waits looks at the tickets once in so many looks: all look at the same word.
inline constexpr std::uint32_t kLooksPerTicket = 16;

constexpr std::size_t vote_by_threads_bytes(std::uint32_t k) { return std::size_t{k} * kVoteThreads * 4; }

template <typename T>
__global__ void __launch_bounds__(kVoteThreads, kVoteBlocks) vote_by_threads(const __grid_constant__ VoteTask<T> task) {
  std::uint32_t* labels = reinterpret_cast<std::uint32_t*>(shared_memory()) + thread_number();
  const auto label = [&](std::uint32_t j) { return labels[j * kVoteThreads]; };
  std::uint32_t deepest = 0;
  for (;;) {
    std::uint32_t first = 0;
    if (lane_number() == 0) first = atomic_add(task.ticket, kWarp);
    first = shuffle(first, 0);
    if (first >= task.rows.count) break;
    const std::uint64_t row = std::uint64_t{first} + lane_number();
    const bool is_there = row < task.rows.count;
    const NeighborRow<T> list(task.rows, is_there ? row : first);
    const auto first_of_warp = static_cast<std::uint32_t>(task.known.trained + task.first_row + first);
    std::uint32_t seen = 0, depth = 0, vain_looks = 0;
    std::uint32_t neighbor = is_there ? list.index(0) : task.rows.missing;
    std::uint64_t own = FoundLabel::kNotYet;
    bool waits = is_there;
    do {
      const bool is_beside = task.known.found != nullptr && neighbor - first_of_warp < kWarp;
      const std::uint64_t beside = shuffle(own, (neighbor - first_of_warp) % kWarp);
      std::uint64_t word = FoundLabel::kNotYet;
      const bool looks = waits && neighbor < task.rows.missing;
      if (looks) word = is_beside ? beside : label_now(task.known, neighbor);
      if (word != FoundLabel::kNotYet) {
        labels[seen * kVoteThreads] = FoundLabel::label(word);
        depth = FoundLabel::depth(word) > depth ? FoundLabel::depth(word) : depth;
        neighbor = list.index(++seen);
      }
      if (waits && neighbor >= task.rows.missing) {
        const std::uint64_t query = task.first_row + row;
        if (seen == 0) atomic_min(&task.report->first_empty, query);
        const std::uint32_t winner = core::vote_of_few(
            seen, label, [&](std::uint32_t j) { return list.weight(j); }, task.ties);
        own = FoundLabel::word(winner, depth + 1);
        if (task.known.found != nullptr) store_now(task.known.found + query, own);
        task.labels[query] = winner;
        deepest = depth + 1 > deepest ? depth + 1 : deepest;
        if (depth + 1 >= task.most_depth) atomic_max(task.ticket, kClosed);
        waits = false;
      }
      if (any_lane(word != FoundLabel::kNotYet)) continue;
      wait_a_little();
      if (++vain_looks % kLooksPerTicket == 0 && any_lane(load_fresh(task.ticket) >= kClosed)) break;
    } while (any_lane(waits));
  }
  deepest = max_of_warp(deepest);
  if (lane_number() == 0 && deepest > 0) atomic_max(&task.report->depth, deepest);
}

}  // namespace kith::cuda
