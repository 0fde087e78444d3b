// A batch of queries at the participant that asked: which shards they go to, round by round, and what the answers make.
//
//   KnnSearch search(map, queries, k, options);
//   for (auto requests = search.next(); !requests.empty(); requests = search.next())
//     search.take(the replies of the shards that they name);  // in any order
//   WideNeighbors found = search.result();
//
// Transports where all must take part in each round go on until all have nothing to ask: an empty round is allowed. kNN
// asks in two rounds: the nearest shard, then all that its k-th neighbour leaves in reach. With `shards_per_round` it
// asks the nearest of these first, in more rounds with fewer queries in all. Everything else is one round.
#pragma once

#include <kith/export.hpp>
#include <kith/index.hpp>
#include <kith/neighbors.hpp>
#include <kith/shards/requests.hpp>
#include <kith/shards/shard.hpp>
#include <kith/shards/shard_map.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace kith::shards::inline v0 {

/// What a search sent, summed over its rounds.
struct SearchTraffic {
  std::uint64_t rounds = 0;
  std::uint64_t requests = 0;  ///< messages, and as many replies
  std::uint64_t queries = 0;   ///< in these messages: each query counts once for each shard that it asked
  std::uint64_t bytes_out = 0;
  std::uint64_t bytes_back = 0;
};

/// As kith::SearchOptions, with 64-bit numbers. Approximate searches (eps, max_leaves) do not exist here: every answer
/// is exact.
struct ShardSearchOptions {
  bool squared = false;
  bool exclude_self = false;
  std::uint32_t max_neighbors = 0;
  double max_distance = std::numeric_limits<double>::infinity();
  /// By number: bit i % 64 of word i / 64. Shards obey it (`AnswerOptions::allowed`); a search does not look at it.
  std::span<const std::uint64_t> allowed = {};
  bool earlier_only = false;
  std::span<const std::uint64_t> index_below = {};
  bool skip_nonfinite = false;
  /// The most shards that a query asks in one round of kNN behind the first; 0: all in reach.
  std::uint32_t shards_per_round = 0;
  /// Threads on the CPU; 0 means all cores.
  int threads = 0;
  ProgressCallback progress = {};
  /// Receives what was sent, if not null; must outlive the search.
  SearchTraffic* traffic = nullptr;
};

/// A search in rounds, whatever it looks for.
class KITH_EXPORT Search {
 public:
  virtual ~Search() = default;
  /// The requests of the next round, at most one for each shard, by ascending shard; none: the search is done.
  virtual std::vector<SearchRequest> next() = 0;
  /// The reply to a request of the last round; each exactly once. Throws CorruptFile if it does not fit.
  virtual void take(SearchReply reply) = 0;
};

/// The queries of a search: rows of the caller's, or the points of one shard, whose own participant then asks for them.
class KITH_EXPORT SearchQueries {
 public:
  SearchQueries(PointView queries);  // NOLINT(google-explicit-constructor)
  /// `number` is the place of the shard in the map.
  SearchQueries(const Shard& shard, std::uint32_t number);

  std::uint64_t rows() const;
  const Shard* shard() const { return shard_ ? &*shard_ : nullptr; }
  std::uint32_t shard_number() const { return number_; }
  PointView view() const { return view_; }

 private:
  PointView view_;
  std::optional<Shard> shard_;
  std::uint32_t number_ = 0;
};

/// The k nearest points of each query. What is borrowed (map, queries, arrays of the options) must outlive a search.
class KITH_EXPORT KnnSearch : public Search {
 public:
  /// Throws as `Index::knn` does.
  KnnSearch(const ShardMap& map, const SearchQueries& queries, std::uint32_t k, const ShardSearchOptions& options = {});
  KnnSearch(KnnSearch&&) noexcept;
  ~KnnSearch() override;
  std::vector<SearchRequest> next() override;
  void take(SearchReply reply) override;
  /// Once there is nothing left to ask. Rows of a self-search are in the order of the shard's numbers.
  WideNeighbors result();

  struct State;

 private:
  std::unique_ptr<State> state_;
};

/// All points within a radius.
class KITH_EXPORT RadiusSearch : public Search {
 public:
  /// Throws as `Index::radius` does.
  RadiusSearch(const ShardMap& map, const SearchQueries& queries, const Radii& radii,
               const ShardSearchOptions& options = {});
  RadiusSearch(RadiusSearch&&) noexcept;
  ~RadiusSearch() override;
  std::vector<SearchRequest> next() override;
  void take(SearchReply reply) override;
  WideNeighborLists result();

  struct State;

 private:
  std::unique_ptr<State> state_;
};

/// How many points lie within a radius.
class KITH_EXPORT CountSearch : public Search {
 public:
  CountSearch(const ShardMap& map, const SearchQueries& queries, const Radii& radii,
              const ShardSearchOptions& options = {});
  CountSearch(CountSearch&&) noexcept;
  ~CountSearch() override;
  std::vector<SearchRequest> next() override;
  void take(SearchReply reply) override;
  std::vector<std::uint64_t> result();

  struct State;

 private:
  std::unique_ptr<State> state_;
};

/// The points inside boxes, or how many they are.
class KITH_EXPORT BoxSearch : public Search {
 public:
  /// Throws as `Index::box` does.
  BoxSearch(const ShardMap& map, PointView lower, PointView upper, bool counts_only = false,
            const ShardSearchOptions& options = {});
  ~BoxSearch() override;
  std::vector<SearchRequest> next() override;
  void take(SearchReply reply) override;
  WidePointLists lists();
  std::vector<std::uint64_t> counts();

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace kith::shards::inline v0
