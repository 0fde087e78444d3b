// The queries of a search at the participant that asked, and which shards they go to.
#pragma once

#include "shards/check_rules.hpp"
#include "shards/row_blocks.hpp"
#include "shards/searched_rows.hpp"
#include "shards/shard_tree.hpp"

#include <kith/error.hpp>
#include <kith/shards/search.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace kith::shards {

/// Numbers of a search from which on a query finds all points.
inline constexpr std::uint64_t kNoNumber = std::numeric_limits<std::uint64_t>::max();

/// For each shard the queries that ask it, ascending.
using AskedQueries = std::vector<std::vector<std::uint64_t>>;

/// The queries of a request: some, or all in their order.
class QueryList {
 public:
  QueryList() = default;
  explicit QueryList(std::vector<std::uint64_t> some) : some_(std::move(some)), count_(some_.size()) {}
  static QueryList all(std::uint64_t count) {
    QueryList list;
    list.count_ = count;
    return list;
  }

  std::uint64_t size() const { return count_; }
  std::uint64_t operator[](std::uint64_t i) const { return some_.empty() ? i : some_[i]; }

 private:
  std::vector<std::uint64_t> some_;  ///< empty: all
  std::uint64_t count_ = 0;
};

/// Borrows the map and the caller's queries.
template <typename T>
class HomeQueries {
 public:
  HomeQueries(const ShardMap& map, const SearchQueries& queries, const ShardSearchOptions& options, SearchKind kind)
      : map_(map), threads_(options.threads), index_below_(options.index_below) {
    if (map.has_bounds()) tree_.emplace(map);
    const bool is_self = queries.shard() != nullptr;
    require_options(map, options, kind, is_self, queries.rows());
    if (is_self) {
      shard_.emplace(*queries.shard());
      own_ = queries.shard_number();
      if (own_ >= map.size() || shard_->facts() != map.shards[own_]) {
        throw UsageError("shards: the shard whose points are the queries is not that of the map");
      }
      count_ = shard_->facts().points;
      earlier_only_ = options.earlier_only;
      return;
    }
    require_view(map, queries.view(), "queries");
    count_ = queries.rows();
    if (count_ == 0) return;
    rows_.emplace(queries.view(), map.rules);
    bad_ = bad_rows(queries.view(), rows_->map(), options.skip_nonfinite, threads_);
  }

  std::uint64_t count() const { return count_; }
  /// The queries are the points of one shard.
  bool is_self() const { return shard_.has_value(); }
  std::uint32_t own_shard() const { return own_; }
  /// Whether the queries are the points of this shard.
  bool is_own(std::uint32_t shard) const { return is_self() && shard == own_; }
  const ShardMap& map() const { return map_; }
  int threads() const { return threads_; }
  bool is_bad(std::uint64_t query) const { return !bad_.empty() && bad_[query] != 0; }
  /// A query finds only numbers below.
  std::uint64_t below(std::uint64_t query) const {
    if (earlier_only_) return shard_->numbers()[query];
    return index_below_.empty() ? kNoNumber : index_below_[query];
  }

  template <typename F>
  void for_each(const F& f) const {
    for_each(count_, f);
  }
  /// For each number below `count`, by all threads.
  template <typename F>
  void for_each(std::uint64_t count, const F& f) const {
    for_each_row(count, threads_, f);
  }

  /// Lets `choose(query, row, ask)` say for each of some queries which shards it asks: ask(shard). The row is as it is
  /// searched: mapped, and wrapped into periodic axes.
  template <typename Choose>
  AskedQueries route(const QueryList& queries, const Choose& choose) {
    take_rows();
    std::vector<std::vector<std::pair<std::uint32_t, std::uint64_t>>> asks(row_blocks(queries.size()));
    for_row_blocks(queries.size(), threads_, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
      std::vector<T> scratch(rows_->dims());
      for (std::uint64_t i = begin; i < end; ++i) {
        const std::uint64_t q = queries[i];
        if (is_bad(q)) continue;
        const T* row = rows_->at(q, scratch.data());
        if (tree_ && tree_->wraps()) {
          if (row != scratch.data()) std::copy_n(row, rows_->dims(), scratch.data());
          tree_->wrap(scratch.data());
          row = scratch.data();
        }
        choose(q, row, [&](std::uint32_t shard) { asks[block].emplace_back(shard, q); });
      }
    });
    std::vector<std::uint64_t> sizes(map_.size(), 0);
    for (const auto& some : asks) {
      for (const auto& [shard, query] : some) ++sizes[shard];
    }
    AskedQueries asked(map_.size());
    for (std::uint32_t shard = 0; shard < map_.size(); ++shard) asked[shard].reserve(sizes[shard]);
    for (const auto& some : asks) {
      for (const auto& [shard, query] : some) asked[shard].push_back(query);
    }
    return asked;
  }
  /// Of a map that has bounds.
  const ShardTree<T>& tree() const { return *tree_; }
  /// Lets a query ask all shards that have numbers it may find, but its own; where there are no bounds.
  template <typename Ask>
  void ask_all(std::uint64_t query, const Ask& ask) const {
    for (std::uint32_t s = 0; s < map_.size(); ++s) {
      if (!is_own(s) && map_.shards[s].points > 0 && map_.shards[s].smallest < below(query)) ask(s);
    }
  }

  /// A request of these queries, their rows and bounds of numbers filled in.
  SearchRequest request(RequestKind kind, std::uint32_t shard, const std::vector<std::uint64_t>& asked) const {
    SearchRequest request;
    request.kind = kind;
    request.shard = shard;
    const PointView view = rows_->view();
    request.queries = PointSet(dtype_of<T>, asked.size(), view.dims());
    T* to = request.queries.values<T>().data();
    if (earlier_only_ || !index_below_.empty()) request.below.resize(asked.size());
    for_each(asked.size(), [&](std::uint64_t i) {
      std::copy_n(view.row<T>(asked[i]), view.dims(), to + i * view.dims());
      if (!request.below.empty()) request.below[i] = below(asked[i]);
    });
    return request;
  }
  /// A request of the points of a shard to itself.
  SearchRequest own_request(RequestKind kind, const ShardSearchOptions& options) const {
    SearchRequest request;
    request.kind = kind;
    request.shard = own_;
    request.is_self = true;
    request.exclude_self = options.exclude_self;
    request.earlier_only = options.earlier_only;
    return request;
  }

 private:
  /// The rows of a self-search are fetched when they are needed first.
  void take_rows() {
    if (rows_ || !shard_) return;
    own_rows_ = shard_->points(threads_);
    rows_.emplace(own_rows_.view(), map_.rules);
  }

  const ShardMap& map_;
  std::optional<ShardTree<T>> tree_;
  int threads_;
  std::span<const std::uint64_t> index_below_;
  std::optional<Shard> shard_;
  PointSet own_rows_;
  std::uint32_t own_ = 0;
  bool earlier_only_ = false;
  std::uint64_t count_ = 0;
  std::optional<SearchedRows<T>> rows_;
  std::vector<std::uint8_t> bad_;
};

/// What was asked in a round and is not answered yet.
class OpenRequests {
 public:
  explicit OpenRequests(std::uint32_t shards) : asked_(shards) {}

  void open(std::uint32_t shard, QueryList queries) { asked_[shard] = std::move(queries); }
  bool is_any_open() const {
    return std::any_of(asked_.begin(), asked_.end(), [](const auto& asked) { return asked.has_value(); });
  }
  /// The queries that a reply answers. Throws CorruptFile if none waits for it or its arrays do not fit.
  QueryList take(const SearchReply& reply, bool has_lists, std::optional<DType> distances) {
    if (reply.shard >= asked_.size() || !asked_[reply.shard]) {
      throw CorruptFile("reply: none is expected from its shard");
    }
    std::uint64_t entries = 0;
    for (const std::uint32_t count : reply.counts) entries += count;
    const bool has_numbers = !has_lists || reply.numbers.size() == entries;
    const bool has_reduced =
        !distances || entries == 0 || (reply.reduced.size() == entries && reply.reduced.dtype() == *distances);
    if (reply.counts.size() != asked_[reply.shard]->size() || !has_numbers || !has_reduced) {
      throw CorruptFile("reply: its arrays are not those of its queries");
    }
    QueryList queries = std::move(*asked_[reply.shard]);
    asked_[reply.shard].reset();
    return queries;
  }

 private:
  std::vector<std::optional<QueryList>> asked_;
};

/// Where the list of each query begins in a reply.
inline std::vector<std::uint64_t> offsets_of(const std::vector<std::uint32_t>& counts) {
  std::vector<std::uint64_t> offsets(counts.size() + 1, 0);
  for (std::size_t i = 0; i < counts.size(); ++i) offsets[i + 1] = offsets[i] + counts[i];
  return offsets;
}

}  // namespace kith::shards
