// Whether arrays are a cover tree as far as that can be checked without measuring.
#include "engine/cover_tree/check_invariants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace kith::engine {
namespace {

using Number = std::uint32_t;
constexpr Number kNoNumber = std::numeric_limits<Number>::max();

std::string permutation_violation(const CoverTree& tree, std::uint64_t objects) {
  std::vector<bool> seen(objects);
  for (const Number object : tree.order) {
    if (object >= objects) return fmt::format("object {} lies in a leaf, but there are only {}", object, objects);
    if (seen[object]) return fmt::format("object {} lies in two leaves", object);
    seen[object] = true;
  }
  return {};
}

/// The children of a node that is right itself. Notes them as found.
std::string children_violation(const CoverTree& tree, Number number, std::vector<bool>& is_child) {
  const std::uint64_t nodes = tree.nodes.size();
  const CoverNode& node = tree.nodes[number];
  if (node.children < 2) return fmt::format("node {}: a single child", number);
  if (node.first_child <= number || node.first_child >= nodes || node.children > nodes - node.first_child) {
    return fmt::format("node {}: its {} children from node {} on are not among the {} nodes behind it", number,
                       node.children, node.first_child, nodes);
  }
  std::uint64_t first = node.first;
  Number lowest = kNoNumber;
  for (Number i = node.first_child; i < node.first_child + node.children; ++i) {
    const CoverNode& child = tree.nodes[i];
    const bool is_first = i == node.first_child;
    if (child.parent != number) return fmt::format("node {}: its parent is {}, not {}", i, number, child.parent);
    if (is_first != (child.centre == node.centre)) {
      return fmt::format("node {}: centre {} does not fit its place below centre {}", i, child.centre, node.centre);
    }
    if (child.level >= node.level || child.level != tree.nodes[node.first_child].level) {
      return fmt::format("node {}: level {} does not fit that of its siblings and parent", i, child.level);
    }
    if (child.count == 0 || child.first != first) {
      return fmt::format("node {}: its {} objects from {} on do not follow its sibling's", i, child.count, child.first);
    }
    if (!(child.to_parent >= 0) || (is_first && child.to_parent != 0)) {
      return fmt::format("node {}: it cannot be {} from its parent", i, child.to_parent);
    }
    is_child[i] = true;
    first += child.count;
    lowest = std::min(lowest, child.lowest);
  }
  if (first != std::uint64_t{node.first} + node.count) {
    return fmt::format("node {}: {} objects, but its children have {}", number, node.count, first - node.first);
  }
  if (lowest != node.lowest) return fmt::format("node {}: {} is not its lowest object", number, node.lowest);
  return {};
}

std::string leaf_violation(const CoverTree& tree, Number number) {
  const CoverNode& node = tree.nodes[number];
  if (node.first_child != 0) return fmt::format("node {}: a leaf that names a child", number);
  bool has_centre = false;
  Number lowest = kNoNumber;
  double last = 0;
  for (Number at = node.first; at < node.first + node.count; ++at) {
    const Number object = tree.order[at];
    const double distance = tree.distances[at];
    if (!(distance >= last) || (at > node.first && distance == last && object < tree.order[at - 1])) {
      return fmt::format("node {}: object {} at distance {} is out of order", number, object, distance);
    }
    if (object == node.centre && distance != 0) {
      return fmt::format("node {}: its centre {} is said to be {} from itself", number, object, distance);
    }
    has_centre = has_centre || object == node.centre;
    lowest = std::min(lowest, object);
    last = distance;
  }
  if (!has_centre) return fmt::format("node {}: centre {} is not among its objects", number, node.centre);
  if (lowest != node.lowest) return fmt::format("node {}: {} is not its lowest object", number, node.lowest);
  if (node.reach != last) {
    return fmt::format("node {}: it reaches {}, but its last object is at {}", number, node.reach, last);
  }
  return {};
}

}  // namespace

std::string first_cover_violation(const CoverTree& tree, std::uint64_t objects) {
  if (objects == 0) return tree.nodes.empty() ? "" : "nodes without objects";
  if (tree.nodes.empty()) return "no root";
  if (std::string wrong = permutation_violation(tree, objects); !wrong.empty()) return wrong;
  const CoverNode& root = tree.nodes[0];
  if (root.parent != 0 || root.to_parent != 0 || root.first != 0 || root.count != objects) {
    return fmt::format("node 0: no root over all {} objects", objects);
  }
  std::vector<bool> is_child(tree.nodes.size());
  for (Number i = 0; i < tree.nodes.size(); ++i) {
    // Its range is inside the root's if a node before it has it as a child.
    if (i > 0 && !is_child[i]) return fmt::format("node {}: no child of a node before it", i);
    const CoverNode& node = tree.nodes[i];
    if (node.centre >= objects) return fmt::format("node {}: there is no object {}", i, node.centre);
    if (!(node.reach >= 0)) return fmt::format("node {}: it cannot reach {}", i, node.reach);
    std::string wrong = node.is_leaf() ? leaf_violation(tree, i) : children_violation(tree, i, is_child);
    if (!wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace kith::engine
