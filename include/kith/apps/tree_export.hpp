// A balanced k-d tree with one node per point, as arrays that other programs can use.
#pragma once

#include <kith/index.hpp>
#include <kith/point_set.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace kith::apps::inline v0 {

/// "No such node": a missing child, or the root of an empty table.
inline constexpr std::uint32_t kNoNode = 0xffffffff;

/// Which point of a range with two middles is its node.
enum class Middle : std::uint8_t { right, left };

KITH_EXPORT std::string_view name_of(Middle middle);
/// "right" or "left". Throws UsageError.
KITH_EXPORT Middle parse_middle(std::string_view name);

struct TreeExportOptions {
  /// Which dimension a node splits: `cycle` takes level mod dims, the root being level 0; `widest` the widest side of
  /// the tight box of the node's range (upper - lower in the type of the points), ties to the lowest dimension.
  SplitRule split = SplitRule::widest;
  Middle middle = Middle::right;
  /// Of equal points (-0 equals +0) only the first is in the tree.
  bool unique = false;
  /// Leave out points with NaN or infinity instead of throwing.
  bool skip_nonfinite = false;
  /// The CPU, or a GPU to build the tree there; the result does not depend on it. `automatic` is the CPU.
  Device device = {};
  /// Threads; 0 means all cores. The result does not depend on it.
  int threads = 0;
  ProgressCallback progress = {};
};

/// What both layouts say about the points they were made from.
struct TreeFacts {
  std::uint64_t rows = 0;  ///< points, those that are not in the tree included
  std::uint32_t dims = 0;
  DType dtype = DType::f32;
  SplitRule split = SplitRule::widest;
  bool unique = false;
  Middle middle = Middle::right;

  friend bool operator==(const TreeFacts&, const TreeFacts&) = default;
};

/// The tree as a table, one line per node. Nodes are numbered in order: all nodes of the less-than subtree, the node,
/// all nodes of the greater-than subtree.
struct NodeTable {
  TreeFacts facts;
  std::uint32_t root = kNoNode;
  std::vector<std::uint32_t> point;      ///< the point of each node, as the caller numbers them
  std::vector<std::uint32_t> split_dim;  ///< the dimension that it splits
  std::vector<std::uint32_t> less;       ///< the node of the points before it, or kNoNode
  std::vector<std::uint32_t> greater;    ///< the node of the points after it, or kNoNode
};

/// The tree without pointers: the root of the range [lo, hi) is at floor((lo + hi) / 2), or with the left middle at
/// floor((lo + hi - 1) / 2); the less-than subtree is the range before it, the greater-than subtree the one after it.
struct InOrderTree {
  TreeFacts facts;
  std::vector<std::uint32_t> index;      ///< the point at each position, as the caller numbers them
  PointSet points;                       ///< its coordinates
  std::vector<std::uint32_t> split_dim;  ///< the dimension that the node at each position splits
};

/// The points of a range are ordered by (x_d, x_(d+1), …, x_(d-1), number), d being the dimension that its node splits;
/// the one in the middle is the node, those before it and after it are its subtrees. So the answer is unique, no level
/// more than ceil(log2(n + 1)) exists, and equal points are no trouble. O(n log n dims), whatever the points; about 12
/// bytes per point, up to four coordinates, and a copy of the points (two in 1 dim and from 9 dims on). Throws BadData
/// on NaN or infinity, UsageError, OutOfMemory, Interrupted.
KITH_EXPORT NodeTable export_node_table(PointView points, const TreeExportOptions& options = {});
/// The same tree, laid out in order.
KITH_EXPORT InOrderTree export_in_order(PointView points, const TreeExportOptions& options = {});

}  // namespace kith::apps::inline v0
