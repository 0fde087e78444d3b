// Searches by packets: what the kernels get, and when they are the ones to take. packet_knn.cuh, packet_collect.cuh,
// packet_self.cuh and packet_radius.cuh tell how they work.
#pragma once

#include "cuda/kd_tree/search/search_types.hpp"
#include "cuda/kd_tree/search/wide_tree.hpp"
#include "cuda/kd_tree/tuning.hpp"

#include <kith/tuning.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace kith::cuda {

/// Some queries of a packet. They stay together: queries of two packets would share a walk of both surroundings, and of
/// all between.
struct PacketPart {
  std::uint32_t packet = 0;
  std::uint32_t lanes = 0;  ///< a bit for each that is searched; 0: `packet` is a group, see PacketTask::groups
};
/// Packets that are searched together where most queries are copies of others.
inline constexpr std::uint32_t kPacketsPerGroup = 16;
/// Of PacketPart::packet: the queries were searched, and have put down their radii where their answers will begin.
inline constexpr std::uint32_t kHasRadii = 0x80000000;

template <typename T>
struct PacketTask {
  KnnTask<T> knn;
  std::uint32_t wanted = 0;    ///< neighbours to find: k, and the query itself if it does not count
  std::uint32_t expected = 0;  ///< how many a guessed radius should hold
  std::uint32_t packets = 0;   ///< at most; the kernel looks at parts_count
  /// Of a whole self-search: packets that share a bottom node, 16 if each has two leaves. 0: 32 queries each, in order.
  std::uint32_t packets_per_node = 0;
  std::uint32_t guess_levels = 0;  ///< levels above the leaves of the subtree that a radius is guessed from
  bool finds_itself = false;       ///< each query is a point and wants one neighbour, which may be itself
  // Where points are collected: how many a query has room for; how many of a sample give a first radius, and what it is
  // multiplied by to hold as many as are expected.
  std::uint32_t capacity = 0, sampled = 0;
  float widening = 1;
  /// What a reduced distance that holds `expected` is multiplied by to hold those of a tied list. 0: not handed on, as
  /// a radius that is guessed for queries that are no points often holds too few of a grid.
  float tied_share = 0;
  // Queries that need another search, as QuerySource::chosen, and, of a search by keys, those whose list was too short
  // for a tie, as PacketPart. The counts begin as 0.
  std::uint32_t* failed = nullptr;
  std::uint32_t* failed_count = nullptr;
  PacketPart* tied = nullptr;
  std::uint32_t* tied_count = nullptr;
  std::uint32_t* tied_probes = nullptr;  ///< packets that found out that most of their queries are tied
  /// By group of kPacketsPerGroup packets a bit for each in which most queries are copies of others: they are searched
  /// together, every place once. All begin as 0.
  std::uint32_t* groups = nullptr;
  /// Where points are collected: what to search, how much only the device knows; null: all packets.
  const PacketPart* parts = nullptr;
  const std::uint32_t* parts_count = nullptr;

  /// Leaves that hold as many points as are wanted: all leaves have as many, some one more.
  KITH_HOST_DEVICE std::uint32_t leaves_of_wanted() const {
    const std::uint32_t least = knn.tree.most_per_leaf - 1;
    return (wanted + least - 1) / least;
  }
};

/// What points are collected for: long lists, which the warp sorts one after the other; or lists that ended in a tie,
/// or are those of many copies, of which lanes sort short ones, and the warp longer ones.
enum class CollectedLists { long_ones, short_tied, long_tied };

/// Keys of a query that wait until they are merged into its list of `kept`: at least as many as a leaf has points, but
/// for the shortest list in 5 dims. The fewer, the more packets run at a time.
constexpr std::uint32_t buffered_keys(std::uint32_t kept, std::uint32_t dims) {
  if (dims == 5) return kept <= 10 ? 48 : 64;
  return kept <= 10 ? 32 : kept <= 18 ? 43 : 58;
}

/// Keys that a list keeps for so many neighbours: two more, so that ties of truncated keys are seen. 0: points are
/// collected.
template <typename T>
std::uint32_t kept_keys(std::uint32_t wanted, const SearchTree<T>& tree) {
  if (wanted > kMostByKeys<T>) return 0;
  if (wanted > 16) return 34;
  return wanted <= 8 && tree.geometry.most_per_leaf() <= buffered_keys(10, tree.dims) ? 10 : 18;
}

/// Whether a search needs general packets, which have lists of keys only: on periodic axes, or with a filter.
template <typename T>
bool is_general(const SearchMetric<T>& metric, const SearchFilter& filter) {
  return metric.lengths != nullptr || filter.earlier_only || filter.below != nullptr || filter.allowed != nullptr;
}

/// Why packets are not right, or not worth it, for people; null: they are. They take L2 in few dims, and queries about
/// as dense as points.
template <typename T>
const char* why_no_packets(const SearchTree<T>& tree, const SearchMetric<T>& metric, const QuerySource<T>& queries) {
  const core::KdGeometry& geometry = tree.geometry;
  const std::uint64_t most = geometry.most_per_leaf();
  static_assert(kFewestPacketDims == 2 && kMostPacketDims == 5 && kPointsPerQuery == 8, "the words below say so");
  if (metric.kind != Metric::Kind::l2 || metric.is_hamming) return "packets are for L2";
  if (tree.dims < kFewestPacketDims || tree.dims > kMostPacketDims) return "packets take 2 to 5 dims";
  if (most < kFewestPerLeaf || most > most_per_leaf_of(tree.dims)) return "the leaves are too small or too large";
  if (geometry.levels < kFewestPacketLevels) return "there are too few points";
  if (queries.chosen_count != nullptr) return "the device chooses the queries";
  if (queries.count < tuning().gpu_packet_queries) return "there are too few queries";
  if (queries.count < geometry.points / kPointsPerQuery) return "there is fewer than one query for 8 points";
  const bool fits = geometry.points < std::uint64_t{1} << 31 && queries.count < std::uint64_t{1} << 32;
  return fits ? nullptr : "there are too many points or queries";
}
template <typename T>
const char* why_no_packets(const KnnTask<T>& task) {
  if (const char* reason = why_no_packets(task.tree, task.metric, task.queries)) return reason;
  if (task.bounds != nullptr) return "queries have bounds of their own";
  const bool is_plain = !is_general(task.metric, task.filter);
  const std::uint32_t wanted = task.k + (task.filter.exclude_self ? 1 : 0);
  if (wanted <= (is_plain && can_collect(task.tree.dims) ? kMostByCollecting : kMostByKeys<T>)) return nullptr;
  return is_plain ? "k is too large" : "k is too large for packets with a filter or periodic axes";
}
template <typename T>
const char* why_no_packets(const RadiusTask<T>& task) {
  if (const char* reason = why_no_packets(task.tree, task.metric, task.queries)) return reason;
  if (!can_collect(task.tree.dims)) return "radius searches by packets take 2 to 4 dims";
  return is_general(task.metric, task.filter) ? "a filter is set, or an axis is periodic" : nullptr;
}
template <typename Task>
bool packets_pay(const Task& task) {
  return why_no_packets(task) == nullptr;
}

/// How queries are cut into packets.
struct PacketCut {
  std::uint32_t packets = 0;
  std::uint32_t per_node = 0;  ///< PacketTask::packets_per_node

  /// Whole leaves where they fit: a packet that is a node of the tree is the most compact. Or full ones: if the radius
  /// is large, compact packets gain less than few.
  template <typename T>
  PacketCut(const SearchTree<T>& tree, const QuerySource<T>& queries, bool are_full = false) {
    const core::KdGeometry& geometry = tree.geometry;
    if (queries.rows == nullptr && queries.chosen == nullptr) {
      const std::uint64_t most_per_node = (geometry.points >> (geometry.levels - 5)) + 1;
      const bool has_two_leaves = !are_full && geometry.most_per_leaf() * 2 <= kPacketQueries;
      per_node =
          static_cast<std::uint32_t>(has_two_leaves ? 16 : (most_per_node + kPacketQueries - 1) / kPacketQueries);
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

/// The points of a tree once more, as packed_points.cuh says, and some behind the last one that may be read: their
/// values do not matter.
inline constexpr std::uint64_t kPackedBehind = 4;

template <typename T>
KITH_HOST_DEVICE constexpr std::uint32_t packed_point_bytes(std::uint32_t dims) {
  return (dims * static_cast<std::uint32_t>(sizeof(T)) + 4 + 15) / 16 * 16;
}
template <typename T>
std::uint64_t packed_bytes(const SearchTree<T>& tree) {
  return (tree.geometry.points + kPackedBehind) * packed_point_bytes<T>(tree.dims);
}

/// What a search by packets needs besides: a list of queries, one of parts of packets, which have more than two queries
/// each, and words that begin as zeros: the lengths of both, PacketTask::tied_probes, and groups.
struct PacketScratch {
  static constexpr std::uint64_t kCounts = 3;
  /// A packet has two leaves at least, or 32 queries, but for the last of all.
  static std::uint64_t groups(std::uint64_t queries) {
    return queries / (kPacketsPerGroup * 2 * (kFewestPerLeaf - 1)) + 1;
  }
  static std::uint64_t zero_words(std::uint64_t queries) { return kCounts + groups(queries); }
  static std::uint64_t words(std::uint64_t queries) { return zero_words(queries) + 2 * queries; }
};

/// Points around a packet that a radius is guessed from, in rows of 32: more where points are collected.
inline constexpr std::uint32_t kGuessRows = 5, kCollectGuessRows = 10;
/// The levels of a subtree that fits into so many rows.
inline std::uint32_t guess_levels(const core::KdGeometry& geometry, std::uint32_t rows) {
  std::uint32_t levels = 0;
  while (levels < 4 && (geometry.most_per_leaf() << (levels + 1)) <= 32 * rows) ++levels;
  return levels;
}

/// What a warp that collects points has in shared memory besides the storage of its walk: the list that is sorted now,
/// where the walk has left what it does not need any more, and the names of each query's points.
struct CollectLayout {
  static constexpr std::uint32_t kSpare = 4;  ///< names behind the last: as many as are put down together

  std::uint32_t reduced_at = 0, numbers_at = 0, order_at = 0, names_at = 0;
  std::uint32_t leaders_at = 0;    ///< if lists are tied: room for kLeaders queries that wait, and for a PlaceWalk
  std::uint32_t names_stride = 0;  ///< an odd number of words, so that queries lie in different banks
  std::uint32_t bytes = 0;         ///< of a warp: a multiple of 16, as the storage of the walk is aligned to as many
  static constexpr std::uint32_t kLeaders = 2 * kPacketQueries, kPlaceWords = (2 * WideTree::kMostDepths + 3) / 4 * 4;
  static_assert((kLeaders + kPlaceWords) % 4 == 0 && kMostCollected % 8 == 0);

  /// The storage of the walk and where its free part begins, both multiples of 16, and how many points a query has room
  /// for, a multiple of 4.
  CollectLayout(std::size_t walk_bytes, std::size_t free_at, std::size_t value_bytes, std::uint32_t capacity,
                bool are_tied)
      : reduced_at(static_cast<std::uint32_t>(free_at)),
        numbers_at(reduced_at + capacity * static_cast<std::uint32_t>(value_bytes)),
        order_at(numbers_at + capacity * 4),
        names_at(std::max(static_cast<std::uint32_t>(walk_bytes), order_at + 2 * kMostCollected)),
        leaders_at(names_at + kPacketQueries * (capacity + kSpare + 2) * 2),
        names_stride(capacity + kSpare + 2),
        bytes(leaders_at + (are_tied ? (kLeaders + kPlaceWords) * 4 : 0)) {}
};

/// Room for some more than are expected, who are some more than are wanted: counts around other queries of the packet
/// vary like those of chance, but less, as their surroundings overlap.
template <typename T>
void plan_collecting(PacketTask<T>& task, double more_expected = 3) {
  const auto with_margin = [](std::uint32_t count, double deviations) {
    return count + static_cast<std::uint32_t>(deviations * std::sqrt(static_cast<double>(count)));
  };
  task.expected = with_margin(task.wanted, more_expected);
  constexpr std::uint32_t kSpare = CollectLayout::kSpare;  // rounded up with it: 7 blocks per processor for k = 100
  task.capacity = std::min((with_margin(task.expected, 3.5) + kSpare + 7) / 8 * 8 - kSpare, kMostCollected);
  task.expected = std::min(task.expected, (task.wanted + task.capacity) / 2);
  const core::KdGeometry& geometry = task.knn.tree.geometry;
  task.guess_levels = guess_levels(geometry, kCollectGuessRows);
  task.sampled = static_cast<std::uint32_t>(geometry.most_per_leaf() << task.guess_levels) / 4;
  task.widening = static_cast<float>(
      std::pow(static_cast<double>(task.expected) / task.sampled, 2.0 / static_cast<double>(task.knn.tree.dims)));
}

/// The queries that were tied, once more: their points are collected, with room for many that are equally far.
template <typename T>
PacketTask<T> task_of_tied(PacketTask<T> task) {
  constexpr std::uint32_t kCapacityForTies = 64, kCapacityForMany = 124;  // two or four rows, as far as they fit
  constexpr double kMoreExpected = 2;                                     // on a grid all queries find as many
  plan_collecting(task, kMoreExpected);
  task.capacity = std::max(task.capacity, task.knn.k > kMostInLanes ? kCapacityForMany : kCapacityForTies);
  task.parts = task.tied;
  task.parts_count = task.tied_count;
  task.tied = nullptr;
  task.tied_count = nullptr;
  return task;
}

/// `scratch` has PacketScratch::words words.
template <typename T>
PacketTask<T> packet_task(const KnnTask<T>& knn, std::uint32_t* scratch) {
  PacketTask<T> task;
  task.knn = knn;
  task.wanted = knn.k + (knn.filter.exclude_self ? 1 : 0);
  task.failed_count = scratch;
  task.failed = scratch + PacketScratch::zero_words(knn.queries.count);
  const std::uint32_t kept = kept_keys<T>(task.wanted, knn.tree);
  const PacketCut cut(knn.tree, knn.queries, kept == 0);
  task.packets = cut.packets;
  task.packets_per_node = cut.per_node;
  if (kept == 0) {
    plan_collecting(task);
    return task;
  }
  // Fewer fail more often, and a query that fails costs as much as ten; more are looked at in vain. In 5 dims a radius
  // soon shrinks, and at the sides of the points, where most queries are, it holds but a part of what it does
  // elsewhere.
  task.expected = task.wanted <= 2     ? 6
                  : knn.tree.dims == 5 ? 2 * task.wanted + 8
                  : task.wanted <= 16  ? task.wanted + task.wanted / 2 + 10
                                       : task.wanted + task.wanted / 3 + 10;
  task.guess_levels = guess_levels(knn.tree.geometry, kGuessRows);
  task.finds_itself = can_collect(knn.tree.dims) && task.wanted == 1 && knn.queries.rows == nullptr && knn.bound >= 0 &&
                      !is_general(knn.metric, knn.filter);
  task.tied_count = scratch + 1;
  task.tied_probes = scratch + 2;
  task.groups = scratch + PacketScratch::kCounts;
  task.tied = reinterpret_cast<PacketPart*>(task.failed + knn.queries.count);
  if (knn.queries.rows == nullptr) {
    task.tied_share = static_cast<float>(
        std::pow(static_cast<double>(task_of_tied(task).expected) / task.expected, 2.0 / knn.tree.dims));
  }
  return task;
}

}  // namespace kith::cuda
