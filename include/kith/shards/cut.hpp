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
// has the points [floor(j n / S), floor((j + 1) n / S)) of that order, regardless of which participant held them.
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
/// and for the numbers, where points on both sides of a cut are equal so far; fewer where a side of the box is short.
/// Counts: 2048 for each cut of the level that is not known yet. Up to 64 shards the cuts are those of the k-d tree;
/// beyond, boxes are cut at level 6 as at all others, where the tree makes them tight.
class KITH_EXPORT CutPlan {
 public:
  /// Where the points of a node are divided: those whose super-key (x_d, x_(d+1), ..., number) comes before these
  /// components, as far as there are some, go to the left. Coordinates are whole numbers in the same order.
  struct Cut {
    std::uint32_t dim = 0;
    bool is_known = false;
    std::uint64_t rank = 0;                 ///< how many go to the left of those that have these components so far
    std::uint64_t low = 0, high = 0;        ///< where the next component lies
    std::vector<std::uint64_t> components;  ///< those known
  };
  /// Some consecutive shards.
  struct Node {
    std::uint32_t first_shard = 0, end_shard = 0;
    std::uint32_t left = 0, right = 0;        ///< children; 0: none yet
    std::vector<std::uint64_t> lower, upper;  ///< the box, cut at the splits; empty if there are no points
    Cut cut;
  };

  CutPlan() = default;
  /// `facts` are those of all points. Throws as `PointFacts::require_good` does, and UsageError for rules that make no
  /// sense.
  CutPlan(const PointFacts& facts, const CutRules& rules);

  bool is_done() const { return unknown_.empty(); }
  /// How many numbers `PointCutter::counts` gives, and `take` takes, in this round; 0 once it is done.
  std::size_t counts() const;
  /// The sums over all participants. Throws UsageError if they cannot be such sums, or if points share a number.
  void take(std::span<const std::uint64_t> sums);
  /// Sums taken so far.
  std::uint32_t rounds() const { return rounds_; }

  std::uint32_t shards() const { return shards_; }
  /// Points that lie before a shard in the order of the tree; for the number of shards, all.
  std::uint64_t first(std::uint32_t shard) const { return shard * points_ / shards_; }
  std::uint64_t points() const { return points_; }
  DType dtype() const { return dtype_; }
  /// Of the rows that are searched.
  std::uint32_t dims() const { return dims_; }

  /// The root first.
  std::span<const Node> nodes() const { return nodes_; }
  /// The nodes whose cuts this round narrows down.
  std::span<const std::uint32_t> unknown() const { return unknown_; }
  /// Whether this round is the first of its level, which counts all points of its nodes.
  bool is_first_of_level() const { return is_first_of_level_; }

  Bytes to_bytes() const;
  static CutPlan from_bytes(std::span<const std::byte> bytes);

 private:
  void begin_levels();
  void begin_cut(Node& node) const;
  void begin_component(Node& node) const;
  void narrow(Node& node, std::span<const std::uint64_t> sums) const;
  std::uint32_t dim_to_cut(const Node& node) const;
  void divide_open();
  void require_sound() const;

  std::uint32_t shards_ = 1, dims_ = 0, level_ = 0, rounds_ = 0;
  DType dtype_ = DType::f32;
  SplitRule split_ = SplitRule::widest;
  bool is_first_of_level_ = true;
  std::uint64_t points_ = 0, rows_ = 0;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> open_;     ///< nodes of this level that are to be divided
  std::vector<std::uint32_t> unknown_;  ///< those of them whose cuts are not known
};

/// The points of one participant while cuts are found. Keeps 2 bytes for each, and the rows of those near a cut.
class KITH_EXPORT PointCutter {
 public:
  /// The points must outlive it; `rules` are those of the plan.
  PointCutter(const NumberedPoints& points, const CutRules& rules, int threads = 0);
  PointCutter(PointCutter&&) noexcept;
  PointCutter& operator=(PointCutter&&) noexcept;
  ~PointCutter();

  /// What this participant adds to the sums of the round that `plan` is in: plan.counts() numbers. The first round of a
  /// level and the one after it read all points, others few. A new cutter can take the place of one that is lost.
  std::vector<std::uint64_t> counts(const CutPlan& plan);
  /// The rows that the last round counted, unless it was the first one of its level: later rounds of the level count
  /// some of these and no others, so that a participant may keep them and forget the rest.
  std::span<const std::uint64_t> counted_rows() const;
  /// How many of its points each shard gets; the plan is done.
  std::vector<std::uint64_t> shard_counts(const CutPlan& plan);
  /// The shard of each of its points; kNoShard for one that is left out. Valid as long as the cutter; the plan is done.
  std::span<const std::uint16_t> shards_of(const CutPlan& plan);
  static constexpr std::uint16_t kNoShard = 0xffff;
  /// Copies of those for one shard, in the order that they have here.
  ShardPoints points_of(const CutPlan& plan, std::uint32_t shard);

  struct State;  // src/shards/point_cutter.cpp

 private:
  std::unique_ptr<State> state_;
};

}  // namespace kith::shards::inline v0
