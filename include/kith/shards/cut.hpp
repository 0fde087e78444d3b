// Cuts points into shards at exact medians, by sums over participants: no point moves before all cuts are known.
//
//   every participant                                            the transport
//   PointFacts::of(points, rules)                                gathers them to all
//   CutPlan plan(PointFacts::joined(facts), rules)
//   PointCutter cutter(points, rules)
//   while (!plan.is_done()) plan.take(sum(cutter.counts(plan)))  sums the counts, element by element
//   cutter.points_of(plan, shard) for each shard                 carries them to where the shard is
//
// The cuts are those of the top of the k-d tree (docs/guarantees.md): with S shards the node of shards [a, b) is cut at
// c = (a + b) / 2, where its left part ends: floor(c n / S) points lie before it in the order of the tree. So shard j
// has the points [floor(j n / S), floor((j + 1) n / S)) of that order, whoever held them.
#pragma once

#include <kith/export.hpp>
#include <kith/shards/numbered_points.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace kith::shards::inline v0 {

/// The cuts as far as they are known: the same at every participant after the same sums. A plain value. Each round
/// narrows the cuts of one level of the tree down by 11 bits of a coordinate; where points are equal there, by the next
/// coordinates and in the end by their numbers.
///
/// Rounds, for each of the ceil(log2 S) levels: up to 3 for f32, 6 for f64; as many again for each further coordinate
/// and number that equal points on both sides of a cut need, fewer where a side of the box is short. Counts: 2048 for
/// each cut of the level that is not known yet.
class KITH_EXPORT CutPlan {
 public:
  CutPlan() = default;
  /// `facts` are those of all points. Throws as `PointFacts::require_good` does, and UsageError for rules that make no
  /// sense.
  CutPlan(const PointFacts& facts, const CutRules& rules);

  bool is_done() const { return level_ == levels_; }
  /// How many numbers `PointCutter::counts` gives, and `take` takes, in this round; 0 once it is done.
  std::size_t counts() const;
  /// The sums over all participants.
  void take(std::span<const std::uint64_t> sums);
  /// Sums taken so far.
  std::uint32_t rounds() const { return rounds_; }

  std::uint32_t shards() const { return shards_; }
  /// Points that lie before a shard in the order of the tree; those of all for the number of shards.
  std::uint64_t first(std::uint32_t shard) const;
  std::uint64_t points() const { return points_; }

  Bytes to_bytes() const;
  static CutPlan from_bytes(std::span<const std::byte> bytes);

 private:
  friend class PointCutter;
  friend struct CutAccess;  // src/shards/cut_access.hpp

  /// Where the points of a node are divided: those whose super-key (x_d, x_(d+1), …, number) comes before these
  /// components go to the left. Coordinates are ordered integers.
  struct Cut {
    std::uint32_t dim = 0;
    std::uint64_t rank = 0;           ///< points of the node on the left; later: of those equal so far
    std::uint64_t low = 0, high = 0;  ///< the next component is in [low, high]
    bool is_known = false;
    std::vector<std::uint64_t> components;  ///< those known
  };
  struct Node {
    std::uint32_t first_shard = 0, end_shard = 0;
    std::vector<std::uint64_t> lower, upper;  ///< the box: ordered integers
    std::uint32_t left = 0, right = 0;        ///< children; 0: a shard
    Cut cut;
  };

  std::uint32_t shards_ = 0, dims_ = 0, level_ = 0, levels_ = 0, rounds_ = 0;
  DType dtype_ = DType::f32;
  SplitRule split_ = SplitRule::widest;
  std::uint64_t points_ = 0, rows_ = 0;
  std::vector<Node> nodes_;          ///< the root first
  std::vector<std::uint32_t> open_;  ///< nodes of this level
};

/// The points of one participant while cuts are found. Keeps 2 bytes per point, and those that lie near a cut.
class KITH_EXPORT PointCutter {
 public:
  /// The points must outlive it; `rules` are those of the plan.
  PointCutter(const NumberedPoints& points, const CutRules& rules, int threads = 0);
  PointCutter(PointCutter&&) noexcept;
  PointCutter& operator=(PointCutter&&) noexcept;
  ~PointCutter();

  /// What this participant adds to the sums of the round that `plan` is in: plan.counts() numbers. Rounds must come one
  /// after the other.
  std::vector<std::uint64_t> counts(const CutPlan& plan);
  /// How many of its points a shard gets; the plan is done.
  std::uint64_t count_of(const CutPlan& plan, std::uint32_t shard);
  /// Copies of them.
  ShardPoints points_of(const CutPlan& plan, std::uint32_t shard);

  struct State;  // src/shards/point_cutter.cpp

 private:
  std::unique_ptr<State> state_;
};

}  // namespace kith::shards::inline v0
