// Points of all ranks of an MPI communicator, searched as one index: every rank holds one shard.
//
// Needs MPI_Init_thread with MPI_THREAD_FUNNELED: only the thread that calls uses MPI. Link kith::mpi.
#pragma once

#include <kith/apps/neighbor_options.hpp>
#include <kith/export.hpp>
#include <kith/index.hpp>
#include <kith/neighbors.hpp>
#include <kith/point_view.hpp>
#include <kith/progress.hpp>
#include <kith/shards/search.hpp>
#include <kith/shards/shard.hpp>
#include <kith/shards/shard_map.hpp>

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kith::mpi::inline v0 {

/// How `DistributedIndex::classify` votes.
struct ClassifyOptions {
  std::uint32_t k = 5;
  apps::Weights weights = apps::Weights::uniform;
  apps::Ties ties = apps::Ties::nearest;
  /// Threads on the CPU; 0: as many as the index took.
  int threads = 0;
  ProgressCallback progress = {};
};

/// As kith::Index, over the points of all ranks: the same answers, byte for byte, for any number of ranks and any
/// distribution of the points. A point's number is its row in the arrays of all ranks, one behind the other in the
/// order of ranks.
///
/// Every function that is marked "collective" is called by all ranks of the communicator, in the same order; a rank
/// may have no points or no queries. If it fails on a rank it throws the same type of error on all of them, in words
/// that name the rank; an exception that is not kith's goes on where it was thrown, and is LostPeer on the others.
/// Threads 0 mean that the ranks of a machine share its cores.
///
/// Immutable; copies share it. Destroy the last copy on all ranks before MPI_Finalize.
class KITH_EXPORT DistributedIndex {
 public:
  /// Collective. Copies the rows of this rank, in host memory, to where their shards are. `options` are the same on all
  /// ranks but for `device`, `threads`, `progress` and `times`. Throws as Index::build does, with the number of a bad
  /// row among all; UsageError under seuclidean and mahalanobis without parameters, and for more than 4096 ranks. Uses
  /// a duplicate of the communicator.
  static DistributedIndex build(MPI_Comm ranks, PointView local, const BuildOptions& options = {});

  /// Collective. For the queries of this rank. `options.allowed` is the same on all ranks, with a bit for each point of
  /// all. Throws as the functions of Index do.
  WideNeighbors knn(PointView queries, std::uint32_t k, const shards::ShardSearchOptions& options = {}) const;
  WideNeighborLists radius(PointView queries, const Radii& radii, const shards::ShardSearchOptions& options = {}) const;
  std::vector<std::uint64_t> count(PointView queries, const Radii& radii,
                                   const shards::ShardSearchOptions& options = {}) const;

  /// Collective. With the points of all ranks as queries; a rank gets the rows of its own, in the order in which it
  /// handed them in. `k` and `options` are the same on all ranks. Radii are one for all points, or one for each of the
  /// rank's own.
  WideNeighbors knn_self(std::uint32_t k, const shards::ShardSearchOptions& options = {}) const;
  WideNeighborLists radius_self(const Radii& radii, const shards::ShardSearchOptions& options = {}) const;
  std::vector<std::uint64_t> count_self(const Radii& radii, const shards::ShardSearchOptions& options = {}) const;

  /// Collective. The label of each query of this rank by a vote of its k nearest points, as apps::classify gives it.
  /// `labels` has one for each point of this rank, and the same number of classes on all ranks. Throws as
  /// apps::classify does, and UsageError for an index that left points out.
  std::vector<std::uint32_t> classify(apps::LabelView labels, PointView queries,
                                      const ClassifyOptions& options = {}) const;

  int rank() const;
  int ranks() const;
  /// The number of this rank's first point.
  std::uint64_t first_number() const;
  /// Points that this rank handed in.
  std::uint64_t local_size() const;
  /// Points of all ranks, those left out included.
  std::uint64_t size() const { return map().rows; }
  std::uint64_t skipped() const { return map().rows - map().points(); }
  std::uint32_t dims() const { return map().dims; }
  DType dtype() const { return map().dtype; }
  Metric metric() const { return map().rules.metric; }
  const shards::ShardMap& map() const;
  /// The shard of this rank.
  const shards::Shard& shard() const;
  /// Of this rank.
  std::uint64_t memory_bytes() const;
  /// What this rank holds, for people.
  std::string explain() const;

  struct State;  // src/mpi/index_state.hpp

 private:
  explicit DistributedIndex(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

}  // namespace kith::mpi::inline v0
