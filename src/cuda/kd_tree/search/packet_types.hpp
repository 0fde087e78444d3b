// kNN by packets: what the kernel gets, and when it is the one to take. packet_knn.cuh tells how it works.
#pragma once

#include "cuda/kd_tree/search/search_types.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace kith::cuda {

/// Queries of a packet: a lane each.
inline constexpr std::uint32_t kPacketQueries = 32;
/// Bits of a key that name the point: the leaf's place in the packet's history, and the point's in its leaf.
inline constexpr std::uint32_t kNameBits = 13;
/// Leaves that the fast way knows: fuller ones have no name, in emptier ones reading a few points too many would leave
/// the leaf.
inline constexpr std::uint32_t kFewestPerLeaf = 8, kMostPerLeaf = 32;

template <typename T>
struct PacketTask {
  KnnTask<T> knn;
  std::uint32_t wanted = 0;    ///< neighbours to find: k, and the query itself if it does not count
  std::uint32_t expected = 0;  ///< how many a guessed radius should hold
  std::uint32_t packets = 0;   ///< at most; the kernel looks at QuerySource::chosen_count
  /// Of a whole self-search: packets that share a bottom node, 16 if each has two leaves. 0: 32 queries each, in order.
  std::uint32_t packets_per_node = 0;
  std::uint32_t guess_levels = 0;  ///< levels above the leaves of the subtree that a radius is guessed from
  bool finds_itself = false;       ///< each query is a point and wants one neighbour: no radius need be guessed
  // Queries that need another search, as QuerySource::chosen, and those whose list was too short for a tie; without a
  // place of their own these count as failed. The counts begin as 0.
  std::uint32_t* failed = nullptr;
  std::uint32_t* failed_count = nullptr;
  std::uint32_t* tied = nullptr;
  std::uint32_t* tied_count = nullptr;
};

/// Keys that a list keeps for so many neighbours: two more, so that ties of truncated keys are seen. 0: too many; in 4
/// dims long lists are not worth the time that compiling them takes.
inline std::uint32_t kept_keys(std::uint32_t wanted, std::uint32_t dims) {
  if (wanted <= 8) return 10;
  if (wanted <= 16) return 18;
  if (wanted <= 30) return 32;
  return wanted <= 62 && dims <= 3 ? 64 : 0;
}

/// Whether packets are right and worth it: plain L2 in few dims without filters, and queries about as dense as points.
template <typename T>
bool suit_packets(const SearchTree<T>& tree, const SearchMetric<T>& metric, const SearchFilter& filter,
                  const QuerySource<T>& queries) {
  constexpr std::uint64_t kFewestQueries = 2048, kPointsPerQuery = 8;
  const core::KdGeometry& geometry = tree.geometry;
  const std::uint64_t most = geometry.most_per_leaf();
  const bool is_plain_l2 =
      (metric.kind == Metric::Kind::l2 || metric.kind == Metric::Kind::cosine) && metric.lengths == nullptr;
  const bool is_filtered = filter.earlier_only || filter.below != nullptr || filter.allowed != nullptr;
  return is_plain_l2 && !is_filtered && tree.dims >= 2 && tree.dims <= 4 && queries.chosen_count == nullptr &&
         most >= kFewestPerLeaf && most <= kMostPerLeaf && geometry.levels >= 5 &&
         geometry.points < (std::uint64_t{1} << 31) && queries.count >= kFewestQueries &&
         queries.count >= geometry.points / kPointsPerQuery && queries.count < (std::uint64_t{1} << 32);
}
template <typename T>
bool packets_pay(const KnnTask<T>& task) {
  return task.bounds == nullptr && suit_packets(task.tree, task.metric, task.filter, task.queries) &&
         kept_keys(task.k + (task.filter.exclude_self ? 1 : 0), task.tree.dims) != 0;
}
template <typename T>
bool packets_pay(const RadiusTask<T>& task) {
  return suit_packets(task.tree, task.metric, task.filter, task.queries);
}

/// How queries are cut into packets.
struct PacketCut {
  std::uint32_t packets = 0;
  std::uint32_t per_node = 0;  ///< PacketTask::packets_per_node

  template <typename T>
  PacketCut(const SearchTree<T>& tree, const QuerySource<T>& queries) {
    const core::KdGeometry& geometry = tree.geometry;
    if (queries.rows == nullptr && queries.chosen == nullptr) {
      // Whole leaves where they fit: a packet that is a node of the tree is the most compact.
      const std::uint64_t most_per_node = (geometry.points >> (geometry.levels - 5)) + 1;
      per_node = static_cast<std::uint32_t>(
          geometry.most_per_leaf() * 2 <= kPacketQueries ? 16 : (most_per_node + kPacketQueries - 1) / kPacketQueries);
      packets = per_node << (geometry.levels - 5);
    } else {
      packets = static_cast<std::uint32_t>((queries.count + kPacketQueries - 1) / kPacketQueries);
    }
  }
};

/// A radius search by packets.
template <typename T>
struct PacketRadiusTask {
  RadiusTask<T> radius;
  std::uint32_t packets = 0;
  std::uint32_t packets_per_node = 0;
  std::uint32_t* failed = nullptr;  ///< queries whose lists need another search, as QuerySource::chosen
  std::uint32_t* failed_count = nullptr;
};

/// `scratch` has a word per query and one more, which begins as 0; counting needs none.
template <typename T>
PacketRadiusTask<T> packet_radius_task(const RadiusTask<T>& radius, std::uint32_t* scratch) {
  const PacketCut cut(radius.tree, radius.queries);
  return {radius, cut.packets, cut.per_node, scratch == nullptr ? nullptr : scratch + 1, scratch};
}

/// The keys that a list keeps when a shorter one ended in a tie.
inline constexpr std::uint32_t kKeptForTies = 32;

/// What a search by packets needs besides: two lists of queries and their lengths, which begin as zeros.
struct PacketScratch {
  static constexpr std::uint64_t kZeroWords = 2;
  static std::uint64_t words(std::uint64_t queries) { return kZeroWords + 2 * queries; }
};

/// Points around a packet that a radius is guessed from, in rows of 32: more for longer lists.
constexpr std::uint32_t guess_rows(std::uint32_t kept) { return kept <= 18 ? 5 : 10; }

/// `scratch` has PacketScratch::words words.
template <typename T>
PacketTask<T> packet_task(const KnnTask<T>& knn, std::uint32_t* scratch) {
  const core::KdGeometry& geometry = knn.tree.geometry;
  PacketTask<T> task;
  task.knn = knn;
  task.wanted = knn.k + (knn.filter.exclude_self ? 1 : 0);
  // Fewer fail more often, and a query that fails costs as much as ten; more are looked at in vain.
  task.expected = task.wanted <= 2 ? 6 : task.wanted + task.wanted / 2 + 10;
  const PacketCut cut(knn.tree, knn.queries);
  task.packets = cut.packets;
  task.packets_per_node = cut.per_node;
  const std::uint64_t guess_points = 32 * guess_rows(kept_keys(task.wanted, knn.tree.dims));
  while (task.guess_levels < 4 && (geometry.most_per_leaf() << (task.guess_levels + 1)) <= guess_points) {
    ++task.guess_levels;
  }
  task.finds_itself = task.wanted == 1 && knn.queries.rows == nullptr;
  task.failed_count = scratch;
  task.failed = scratch + PacketScratch::kZeroWords;
  if (kept_keys(task.wanted, knn.tree.dims) < kKeptForTies) {
    task.tied_count = scratch + 1;
    task.tied = task.failed + knn.queries.count;
  }
  return task;
}

/// The queries that were tied, once more, with longer lists.
template <typename T>
PacketTask<T> task_of_tied(PacketTask<T> task) {
  task.knn.queries.chosen = task.tied;
  task.knn.queries.chosen_count = task.tied_count;
  task.packets = static_cast<std::uint32_t>((task.knn.queries.count + kPacketQueries - 1) / kPacketQueries);
  task.packets_per_node = 0;
  task.tied = task.tied_count = nullptr;
  return task;
}

}  // namespace kith::cuda
