// Checks an exported tree against its points: every promise of <kith/apps/tree_export.hpp>, node by node.
#pragma once

#include <kith/apps/tree_export.hpp>
#include <kith/point_view.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <string>

namespace kith::apps::inline v0 {

struct VerifyTreeOptions {
  int threads = 0;  ///< 0 means all cores
  /// The CPU, or a GPU that checks the tree; what is wrong, if it finds something, the CPU says. `automatic` is the
  /// CPU.
  Device device = {};
  ProgressCallback progress = {};
};

struct TreeVerdict {
  std::uint64_t nodes = 0;
  std::uint64_t levels = 0;
  /// Names the first node that breaks a promise, its point, and the values; empty if all is right.
  std::string first_violation;
};

/// Every point once (or the first of equal ones), every node reached once from the root, all ranges cut in the middle,
/// the split dimensions by the rule, every point on the right side. The numbers of the nodes themselves are free. Safe
/// whatever the table holds. Throws UsageError if the table was made from other points (their count, dims or type
/// differ). O(n dims).
KITH_EXPORT TreeVerdict verify_tree(const NodeTable& table, PointView points, const VerifyTreeOptions& options = {});
KITH_EXPORT TreeVerdict verify_tree(const InOrderTree& tree, PointView points, const VerifyTreeOptions& options = {});
/// The same without the points that the tree was made from: they are taken to be the tree's own, so that points which
/// it lacks go unnoticed.
KITH_EXPORT TreeVerdict verify_tree_alone(const InOrderTree& tree, const VerifyTreeOptions& options = {});

/// Lays the points of a table in the order of its tree. Checks it as `verify_tree` does; throws BadData that names what
/// is wrong, and UsageError, OutOfMemory.
KITH_EXPORT InOrderTree in_order(const NodeTable& table, PointView points, const VerifyTreeOptions& options = {});

}  // namespace kith::apps::inline v0
