// What becomes of the objects that a walk through a cover tree comes upon: the nearest are kept, or all are listed or
// counted.
#pragma once

#include "core/order/candidate.hpp"
#include "cpu/cover_tree/space.hpp"
#include "cpu/key_list.hpp"
#include "engine/cover_tree/cover_tree.hpp"
#include "engine/searcher.hpp"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace kith::cpu {

/// Whom one query may find.
struct CoverScope {
  CoverScope(const engine::PointFilter& all, std::uint64_t of)
      : filter(all), query(of), end(all.end(of)), is_open(all.is_open()) {}

  bool admits(std::uint32_t number) const { return is_open || filter.admits(query, number); }

  const engine::PointFilter& filter;
  std::uint64_t query;
  std::uint32_t end;  ///< numbers from here on are not for it
  bool is_open;
};

/// Keeps the nearest in a `Keeper`, which has `offer` and `limit`: KeyList, NearestRow or NearestKeeper.
template <Space S, typename Keeper>
class CoverNearest {
 public:
  using Value = typename S::Value;

  CoverNearest(const S& space, Keeper& keeper, CoverScope scope, Value shrink)
      : space_(space), keeper_(keeper), scope_(scope), shrink_(shrink), is_exact_(space.rounding().is_exact()) {
    follow_limit();
  }

  Value limit() const { return limit_.distance; }
  double reach() const { return reach_; }

  bool passes_over(double bound, std::uint32_t lowest) {
    if (lowest >= scope_.end || excludes(bound, lowest)) return true;
    // Only a k-th neighbour may be missed by a little; a bound is a bound.
    if (shrink_ == 1 || limit_.index == core::kNoPoint || !(bound > shrunk_reach_)) return false;
    if (std::pair(bound, lowest) < missed_) missed_ = {bound, lowest};
    return true;
  }

  static bool takes_whole(double, const engine::CoverNode&) { return false; }

  bool take(Value value, std::uint32_t number) {
    const core::Candidate<Value> candidate{value, number};
    if (!(candidate < limit_)) return false;
    if (!scope_.admits(number)) return true;
    keeper_.offer(candidate);
    follow_limit();
    return true;
  }

  /// Whether nothing that was passed over could have been a neighbour.
  bool is_certain() const { return missed_ == kNothingMissed || excludes(missed_.first, missed_.second); }

 private:
  static constexpr std::pair<double, std::uint32_t> kNothingMissed{std::numeric_limits<double>::infinity(),
                                                                   core::kNoPoint};

  /// Equal metrics mean equal values only where nothing is rounded.
  bool excludes(double bound, std::uint32_t lowest) const {
    return bound > reach_ || (is_exact_ && bound == reach_ && lowest >= limit_.index);
  }

  void follow_limit() {
    const core::Candidate<Value> limit = keeper_.limit();
    const bool has_moved = limit.distance != limit_.distance;
    limit_ = limit;
    if (!has_moved) return;
    reach_ = space_.metric(limit.distance);
    if (shrink_ != 1) shrunk_reach_ = space_.metric(limit.distance * shrink_);
  }

  const S& space_;
  Keeper& keeper_;
  CoverScope scope_;
  Value shrink_;
  bool is_exact_;
  core::Candidate<Value> limit_{std::numeric_limits<Value>::quiet_NaN(), core::kNoPoint};
  double reach_ = 0;
  double shrunk_reach_ = 0;
  std::pair<double, std::uint32_t> missed_ = kNothingMissed;  ///< the least (bound, lowest number)
};

/// Lists everything within a bound.
template <Space S>
class CoverList {
 public:
  using Value = typename S::Value;

  CoverList(const S& space, std::vector<core::Candidate<Value>>& found, CoverScope scope, Value bound)
      : found_(found), scope_(scope), bound_(bound), reach_(space.metric(bound)) {}

  Value limit() const { return bound_; }
  double reach() const { return reach_; }
  bool passes_over(double bound, std::uint32_t lowest) const { return lowest >= scope_.end || bound > reach_; }
  static bool takes_whole(double, const engine::CoverNode&) { return false; }
  bool take(Value value, std::uint32_t number) {
    if (!(value <= bound_)) return false;
    if (scope_.admits(number)) found_.push_back({value, number});
    return true;
  }

 private:
  std::vector<core::Candidate<Value>>& found_;
  CoverScope scope_;
  Value bound_;
  double reach_;
};

/// Counts what lies within a bound.
template <Space S>
class CoverCount {
 public:
  using Value = typename S::Value;

  CoverCount(const S& space, CoverScope scope, Value bound)
      : scope_(scope), bound_(bound), reach_(space.metric(bound)) {}

  Value limit() const { return bound_; }
  double reach() const { return reach_; }
  bool passes_over(double bound, std::uint32_t lowest) const { return lowest >= scope_.end || bound > reach_; }
  /// Strictly within, because equal metrics may be those of different values.
  bool takes_whole(double farthest, const engine::CoverNode& node) {
    if (!scope_.is_open || !(farthest < reach_)) return false;
    count_ += node.count;
    return true;
  }
  bool take(Value value, std::uint32_t number) {
    if (!(value <= bound_)) return false;
    count_ += scope_.admits(number) ? 1 : 0;
    return true;
  }

  std::uint32_t count() const { return count_; }

 private:
  CoverScope scope_;
  Value bound_;
  double reach_;
  std::uint32_t count_ = 0;
};

}  // namespace kith::cpu
