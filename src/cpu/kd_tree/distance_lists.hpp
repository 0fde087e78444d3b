// The k nearest f64 candidates of the queries of a group: sorted distances by vectors, and a log of all that came.
#pragma once

#include "cpu/kd_tree/leaf_hits.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::cpu {

/// Writes the numbers of the k nearest of `logged` candidates, nearest first, and returns how many there are; `sorted`
/// are the smallest distances.
using PickFunction = std::uint32_t (*)(const double* sorted, std::uint32_t k, const double* log_distances,
                                       const std::uint32_t* log_indices, std::uint32_t logged, std::uint32_t* indices);

/// A distance and a number do not fit into one key as those of f32 do (KeyLists). So only the k smallest distances are
/// kept sorted, which gives the limit, and hits are appended to a log; the k nearest are picked from it in the end, or
/// when it is full. Where distances are equal, as of copies of a point, numbers must limit what comes in, too: from the
/// first time that this matters, candidates of the query are inserted one by one.
class DistanceLists {
 public:
  static constexpr std::uint32_t kMost = 32;
  static constexpr std::uint32_t kMostHits = 64;        ///< of a call
  static constexpr std::uint32_t kLog = 2 * kMostHits;  ///< places in a log

  /// 1 <= k <= kMost.
  DistanceLists(std::uint32_t k, std::uint32_t queries);

  /// Empties the list of a query; only candidates with a reduced distance up to `farthest` will enter.
  void reset(std::uint32_t query, double farthest);
  /// Writes k places: what was found, then `missing` and infinity.
  void write(std::uint32_t query, std::uint32_t missing, std::uint32_t* indices, double* reduced);
  /// The function to insert hits, to be called with this object as context.
  LeafHitFunction<double> on_hit() const { return on_hit_; }

  // For that function.

  double* distances(std::uint32_t query) { return distances_ + std::size_t{query} * capacity_; }
  double* log_distances(std::uint32_t query) { return log_distances_.data() + std::size_t{query} * kLog; }
  std::uint32_t* log_indices(std::uint32_t query) { return log_indices_.data() + std::size_t{query} * kLog; }
  std::uint32_t logged(std::uint32_t query) const { return logged_[query]; }
  double limit(std::uint32_t query) { return distances(query)[k_ - 1]; }
  /// That the log has grown to `logged`; before, the limit was `before`. Returns the limit. Where more candidates are
  /// at its distance than there are places, the k nearest are picked.
  core::Candidate<double> set_logged(std::uint32_t query, std::uint32_t logged, double before);
  /// Whether the log holds the k nearest in order, and nothing else.
  bool is_picked(std::uint32_t query) const { return is_picked_[query] != 0; }
  /// Hits of such a query. Returns the limit.
  core::Candidate<double> insert_one_by_one(std::uint32_t query, std::uint64_t hits, const double* reduced,
                                            const std::uint32_t* indices);

 private:
  static_assert(kMost <= kLog - kMostHits);
  /// k rounded up, so that there are few functions.
  static constexpr std::uint32_t capacity_for(std::uint32_t k) { return k <= 4 ? 4 : std::bit_ceil(k); }

  /// Writes the numbers of the k nearest in the log, nearest first, and returns how many there are.
  std::uint32_t pick(std::uint32_t query, std::uint32_t* indices) const;
  /// Leaves the k nearest in the log, in order.
  void cut_back(std::uint32_t query);

  std::uint32_t k_;
  std::uint32_t capacity_;  ///< of a list
  LeafHitFunction<double> on_hit_;
  PickFunction pick_;
  std::vector<double> storage_;
  double* distances_;                  ///< [query][capacity], ascending, aligned, the farthest where there are fewer
  std::vector<double> log_distances_;  ///< [query][kLog]
  std::vector<std::uint32_t> log_indices_;
  std::vector<std::uint32_t> logged_;
  std::vector<std::uint8_t> is_picked_;
};

}  // namespace kith::cpu
