// One shard: its points in an index of their own, and the answers that it gives to the requests of others.
#pragma once

#include <kith/export.hpp>
#include <kith/index.hpp>
#include <kith/neighbors.hpp>
#include <kith/progress.hpp>
#include <kith/shards/numbered_points.hpp>
#include <kith/shards/requests.hpp>
#include <kith/shards/shard_map.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace kith::shards::inline v0 {

/// How a shard answers; the answer does not depend on `threads`.
struct AnswerOptions {
  /// From `Shard::allowed_here`; empty: all points.
  std::span<const std::uint64_t> allowed = {};
  /// Threads on the CPU; 0 means all cores.
  int threads = 0;
  ProgressCallback progress = {};
};

/// Points with 64-bit numbers, prepared for search. The rows of its index are ordered by number, so that its own order
/// of ties is that of all points. Immutable; copies share it; every call is thread-safe.
class KITH_EXPORT Shard {
 public:
  /// From what all participants sent, in any order; `rules` are those of the cut, which take the place of what
  /// `options` say on the metric, its parameters, the period and the split. Throws as `Index::build` does; UsageError
  /// for more than 2^32 - 2 points.
  static Shard build(std::vector<ShardPoints> parts, const CutRules& rules, const BuildOptions& options = {});

  /// A shard that was built before, whose index was saved: the numbers of its rows, ascending, and what it told. It has
  /// no `points()` unless the index holds them. Throws UsageError if they do not fit together.
  static Shard of_index(Index index, std::vector<std::uint64_t> numbers, ShardFacts facts);

  const ShardFacts& facts() const;
  /// The numbers of the points, ascending.
  std::span<const std::uint64_t> numbers() const;
  const Index& index() const;
  std::uint64_t memory_bytes() const;

  /// The bits of its points out of those of all, in the order of its own.
  std::vector<std::uint64_t> allowed_here(std::span<const std::uint64_t> allowed) const;
  SearchReply answer(const SearchRequest& request, const AnswerOptions& options = {}) const;
  /// Its points as the caller had them, in the order of their numbers. Throws OutOfMemory.
  PointSet points(int threads = 0) const;

  struct State;  // src/shards/shard_state.hpp

 private:
  explicit Shard(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

}  // namespace kith::shards::inline v0
