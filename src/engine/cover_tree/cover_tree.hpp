// The cover tree as it lies in memory and in a file, whatever the objects are: nodes by level, objects by leaf.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace kith::engine {

/// Cells of up to so many objects are not split, unless a caller says otherwise.
inline constexpr std::uint32_t kCoverLeafSize = 32;
inline std::uint32_t cover_leaf_size(std::uint32_t wanted) { return wanted == 0 ? kCoverLeafSize : wanted; }

/// A centre and what it covers. Children lie side by side; the first one has the same centre.
///
/// All objects of a node are within `reach` of its centre; reach <= 2^level except at the root. A child's centre was
/// farther than 2^level from the centre of its parent, and not farther than 2^(level + 1), where level is the child's.
struct CoverNode {
  double reach = 0;               ///< the largest distance of an object of the node from the centre
  double to_parent = 0;           ///< from the parent's centre to this one; 0 at the root and for first children
  std::uint32_t centre = 0;       ///< an object
  std::uint32_t parent = 0;       ///< a node; the root is its own
  std::uint32_t first_child = 0;  ///< a node; 0: a leaf
  std::uint32_t children = 0;
  std::uint32_t first = 0;  ///< the objects of the node are order[first .. first + count)
  std::uint32_t count = 0;
  std::uint32_t lowest = 0;  ///< the lowest number among them
  std::int32_t level = 0;

  bool is_leaf() const { return children == 0; }
};
static_assert(sizeof(CoverNode) == 48);

/// What centres keep apart: all of a level from each other, or only the children of one node.
enum class CoverSeparation : std::uint32_t { global = 0, siblings = 1 };

/// A view of the arrays of a tree, which `owner` keeps alive.
struct CoverTree {
  std::uint32_t leaf_size = 0;
  CoverSeparation separation = CoverSeparation::global;
  std::span<const CoverNode> nodes;      ///< by level, parents before children; none without objects
  std::span<const std::uint32_t> order;  ///< the objects by leaf, in a leaf by (distance, number): its centre first
  std::span<const double> distances;     ///< of order[i] from the centre of its leaf
  std::shared_ptr<const void> owner;

  std::uint32_t size() const { return static_cast<std::uint32_t>(order.size()); }
  std::uint64_t memory_bytes() const { return nodes.size_bytes() + order.size_bytes() + distances.size_bytes(); }
};

}  // namespace kith::engine
