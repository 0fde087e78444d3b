// What the copies of a DistributedIndex share, and how requests and replies go between the ranks.
#pragma once

#include "mpi/communicator.hpp"

#include <kith/mpi/distributed_index.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace kith::mpi::inline v0 {

struct DistributedIndex::State {
  Communicator ranks;
  /// The number of each rank's first point, and of all points.
  std::vector<std::uint64_t> starts = {};
  /// Where each point of this rank went: its shard, or kLeftOut.
  std::vector<std::uint16_t> shard_of = {};
  shards::ShardMap map = {};
  std::optional<shards::Shard> shard = {};
  int threads = 1;

  static constexpr std::uint16_t kLeftOut = 0xffff;

  explicit State(MPI_Comm communicator) : ranks(communicator) {}

  std::uint32_t own_shard() const { return static_cast<std::uint32_t>(ranks.rank()); }
  std::uint64_t first_number() const { return starts[own_shard()]; }
  std::uint64_t local_size() const { return shard_of.size(); }
  /// The rank that handed in a point.
  std::uint32_t rank_of(std::uint64_t number) const;

  /// The options with the threads of this rank.
  shards::ShardSearchOptions resolved(const shards::ShardSearchOptions& options) const;

  /// Carries requests and replies between ranks until none has a request left. `begin` makes this rank's search.
  void run(const std::function<shards::Search&()>& begin, const shards::ShardSearchOptions& options) const;

  /// A search of this rank, from the first round to its result.
  template <typename S, typename Make>
  auto search(const shards::ShardSearchOptions& options, const Make& make) const {
    std::optional<S> search;
    run([&]() -> shards::Search& { return search.emplace(make()); }, options);
    return ranks.agree([&] { return search->result(); });
  }
};

}  // namespace kith::mpi::inline v0
