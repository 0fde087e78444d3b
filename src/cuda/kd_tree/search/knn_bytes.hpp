// What a kNN search in a k-d tree takes of the GPU's memory, before anything is allocated.
#pragma once

#include "cuda/kd_tree/search/packet/packet_types.hpp"
#include "cuda/primitives/sum_tiles.hpp"
#include "cuda/queries/knn_chunks.hpp"
#include "cuda/queries/warps_plan.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::cuda {

/// A chunk in flight keeps the order of its queries; while it is searched, packets take PacketScratch, of which groups
/// are less than a byte for each query.
inline constexpr KnnExtra kTreeKnnExtra{.in_flight = 4, .searched = 9};

/// What ordering queries by leaf takes, in words: a count per leaf, which begins as zeros, sums, and a leaf per query.
struct OrderLayout {
  std::uint64_t counts_at = 0, sums_at = 0, leaves_at = 0, words = 0;

  OrderLayout(std::uint64_t leaves, std::uint64_t queries)
      : sums_at(leaves), leaves_at(sums_at + sum_tiles_of(leaves) + 2), words(leaves_at + queries) {}
};

/// The lists of a search by a warp per query.
template <typename T>
ListsPlan plan_knn(const SearchTree<T>& tree, std::uint64_t queries, std::uint32_t k, const SearchLimits& limits) {
  const std::uint32_t entries = entries_of_list(k, static_cast<std::uint32_t>(tree.geometry.points));
  return plan_lists<T>(queries, entries, WarpStorage<T>(tree.dims, 0).bytes, limits);
}

/// What the queries of a chunk take while they are ordered, and then while they are searched.
template <typename T>
std::uint64_t knn_scratch_bytes(const KnnTask<T>& task, const SearchLimits& limits) {
  const std::uint64_t count = task.queries.count, word = sizeof(std::uint32_t);
  const bool is_ordered = task.queries.rows != nullptr && count >= tuning().gpu_ordered_queries;
  const std::uint64_t order = is_ordered ? OrderLayout(task.tree.geometry.leaves(), count).words * word : 0;
  if (!packets_pay(task)) return std::max(order, plan_knn(task.tree, count, task.k, limits).scratch_bytes);
  return std::max(order, packed_bytes(task.tree) + PacketScratch::words(count) * word);
}

}  // namespace kith::cuda
