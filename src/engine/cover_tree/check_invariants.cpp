// See check_invariants.hpp. Any arrays are safe, however wrong: structure is checked before it is followed.
#include "engine/cover_tree/check_invariants.hpp"

#include <algorithm>
#include <limits>
#include <sstream>
#include <vector>

namespace kith::engine {
namespace {

class CoverCheck {
 public:
  CoverCheck(const CoverTree& tree, std::uint64_t objects, const core::CoverRounding& rounding,
             const CoverMetric& metric)
      : tree_(tree), objects_(objects), rounding_(rounding), metric_(metric) {}

  /// Nothing: the tree is a cover tree of the objects. Else the first violation.
  std::optional<std::string> run() {
    if (!has_shape() || !has_distances() || !has_reach() || !covers() || !is_separated()) return message_;
    return std::nullopt;
  }

 private:
  using Number = std::uint32_t;

  template <typename... Parts>
  bool fail(const Parts&... parts) {
    std::ostringstream text;
    text.precision(std::numeric_limits<double>::max_digits10);
    (text << ... << parts);
    message_ = text.str();
    return false;
  }

  /// A pair and its distance, for messages.
  std::string pair(Number a, Number b, double distance) const {
    std::ostringstream text;
    text.precision(std::numeric_limits<double>::max_digits10);
    text << "objects " << a << " and " << b << ", at distance " << distance;
    return text.str();
  }

  double radius(Number node) const { return core::cover_radius(tree_.nodes[node].level); }

  /// Ranges and links only: nothing is measured.
  bool has_shape() {
    const auto& nodes = tree_.nodes;
    if (tree_.order.size() != objects_ || tree_.distances.size() != objects_) {
      return fail("the tree has ", tree_.order.size(), " objects and ", tree_.distances.size(), " distances, not ",
                  objects_);
    }
    if (objects_ == 0) return nodes.empty() || fail("a tree without objects has nodes");
    if (nodes.empty()) return fail("the tree has no root");
    std::vector<bool> seen(objects_);
    for (const Number object : tree_.order) {
      if (object >= objects_) return fail("object ", object, " does not exist");
      if (seen[object]) return fail("object ", object, " lies in two leaves");
      seen[object] = true;
    }
    const CoverNode& root = nodes[0];
    if (root.parent != 0 || root.first != 0 || root.count != objects_) return fail("the root is not over all objects");
    std::uint64_t with_parent = 1;  // the root, and who names a parent that has it among its children
    for (Number i = 0; i < nodes.size(); ++i) {
      const CoverNode& node = nodes[i];
      if (node.centre >= objects_) return fail("the centre of node ", i, " does not exist");
      if (node.count == 0) return fail("node ", i, " has no objects");
      if (node.children == 0) {
        if (node.first_child != 0) return fail("node ", i, " is a leaf and names a child");
        continue;
      }
      if (node.children == 1) return fail("node ", i, " has a single child");
      if (node.first_child <= i || node.first_child >= nodes.size() ||
          node.children > nodes.size() - node.first_child) {
        return fail("the children of node ", i, " are not where they belong");
      }
      with_parent += node.children;
      if (!has_children_in_shape(i)) return false;
    }
    return with_parent == nodes.size() || fail(nodes.size() - with_parent, " nodes have no parent");
  }

  bool has_children_in_shape(Number parent) {
    const CoverNode& node = tree_.nodes[parent];
    std::uint64_t first = node.first;
    Number lowest = std::numeric_limits<Number>::max();
    for (Number c = node.first_child; c < node.first_child + node.children; ++c) {
      const CoverNode& child = tree_.nodes[c];
      if (child.parent != parent) return fail("node ", c, " does not name its parent ", parent);
      if (child.level >= node.level) return fail("node ", c, " is not below the level of its parent ", parent);
      if (child.level != tree_.nodes[node.first_child].level) return fail("node ", c, " is not on its siblings' level");
      if (child.first != first) return fail("the objects of node ", c, " do not follow those of its sibling");
      if ((c == node.first_child) != (child.centre == node.centre)) {
        return fail("nesting: node ", c, " has the centre ", child.centre, ", its parent has ", node.centre);
      }
      if (c > node.first_child + 1 && child.centre <= tree_.nodes[c - 1].centre) {
        return fail("node ", c, " comes before its sibling by the number of its centre");
      }
      first += child.count;
      lowest = std::min(lowest, child.lowest);
    }
    if (first != std::uint64_t{node.first} + node.count)
      return fail("node ", parent, " is not the sum of its children");
    if (lowest != node.lowest) return fail("node ", parent, " has not the lowest number ", lowest);
    return true;
  }

  /// Leaves: objects from their centre, as stored and in order; nodes: centres from each other.
  bool has_distances() {
    for (Number i = 0; i < tree_.nodes.size(); ++i) {
      const CoverNode& node = tree_.nodes[i];
      const Number above = tree_.nodes[node.parent].centre;
      const double to_parent = above == node.centre ? 0 : metric_(above, node.centre);
      if (!(node.to_parent == to_parent)) {
        return fail("node ", i, " is said to be ", node.to_parent,
                    " from its parent: ", pair(above, node.centre, to_parent));
      }
      if (node.is_leaf() && !has_leaf_distances(i)) return false;
    }
    return true;
  }

  bool has_leaf_distances(Number leaf) {
    const CoverNode& node = tree_.nodes[leaf];
    bool has_centre = false;
    Number lowest = std::numeric_limits<Number>::max();
    for (Number at = node.first; at < node.first + node.count; ++at) {
      const Number object = tree_.order[at];
      const double distance = object == node.centre ? 0 : metric_(node.centre, object);
      if (!(tree_.distances[at] == distance)) {
        return fail("leaf ", leaf, " has the distance ", tree_.distances[at], " for ",
                    pair(node.centre, object, distance));
      }
      if (at > node.first) {
        const bool ascends =
            tree_.distances[at - 1] < distance || (tree_.distances[at - 1] == distance && tree_.order[at - 1] < object);
        if (!ascends) {
          return fail("leaf ", leaf, " is not in order at ", pair(node.centre, object, distance));
        }
      }
      has_centre |= object == node.centre;
      lowest = std::min(lowest, object);
    }
    if (!has_centre) return fail("leaf ", leaf, " is without its centre ", node.centre);
    if (lowest != node.lowest) return fail("leaf ", leaf, " has not the lowest number ", lowest);
    return true;
  }

  /// The exact largest distance. Objects of the first child have it from there.
  bool has_reach() {
    for (auto i = static_cast<Number>(tree_.nodes.size()); i-- > 0;) {
      const CoverNode& node = tree_.nodes[i];
      double reach = 0;
      Number farthest = node.centre;
      if (node.is_leaf()) {
        reach = tree_.distances[node.first + node.count - 1];
        farthest = tree_.order[node.first + node.count - 1];
      } else {
        const CoverNode& first = tree_.nodes[node.first_child];
        reach = first.reach;
        for (Number at = first.first + first.count; at < node.first + node.count; ++at) {
          const double distance = metric_(node.centre, tree_.order[at]);
          if (distance > reach) {
            reach = distance;
            farthest = tree_.order[at];
          }
        }
      }
      if (!(node.reach == reach)) {
        return fail("node ", i, " is said to reach ", node.reach, ", not ", pair(node.centre, farthest, reach));
      }
    }
    return true;
  }

  bool covers() {
    for (Number i = 0; i < tree_.nodes.size(); ++i) {
      const CoverNode& node = tree_.nodes[i];
      const Number above = tree_.nodes[node.parent].centre;
      if (node.to_parent > 2 * radius(i)) {
        return fail("covering: node ", i, " of level ", node.level,
                    " is too far from its parent: ", pair(above, node.centre, node.to_parent));
      }
      // A root that is a leaf may hold objects at distances that arithmetic does not tell.
      if (node.is_leaf() && i > 0 && node.reach > radius(i)) {
        return fail("covering: leaf ", i, " of level ", node.level,
                    " reaches too far: ", pair(node.centre, tree_.order[node.first + node.count - 1], node.reach));
      }
    }
    return true;
  }

  bool is_separated() {
    for (Number i = 1; i < tree_.nodes.size(); ++i) {
      const CoverNode& node = tree_.nodes[i];
      const CoverNode& parent = tree_.nodes[node.parent];
      if (i == parent.first_child) continue;  // its centre has been there on higher levels
      if (tree_.separation == CoverSeparation::siblings) {
        for (Number other = parent.first_child; other < i; ++other) {
          if (!is_apart(i, other, metric_(node.centre, tree_.nodes[other].centre))) return false;
        }
      } else if (!is_apart_from_all(i)) {
        return false;
      }
    }
    return true;
  }

  bool is_apart(Number node, Number other, double distance) {
    if (distance > radius(node)) return true;
    return fail("separation: two centres of level ", tree_.nodes[node].level, " are not farther apart than ",
                radius(node), ": ", pair(tree_.nodes[other].centre, tree_.nodes[node].centre, distance));
  }

  /// From all other centres that are there on the level on which this one appears. Walks the nodes of higher or the
  /// same level, all of whose objects, and so centres, are within their reach.
  bool is_apart_from_all(Number of) {
    const CoverNode& node = tree_.nodes[of];
    const double radius_of = radius(of);
    walk_.assign(1, {0, metric_(tree_.nodes[0].centre, node.centre)});
    while (!walk_.empty()) {
      const auto [at, distance] = walk_.back();
      walk_.pop_back();
      const CoverNode& other = tree_.nodes[at];
      if (other.centre != node.centre && !is_apart(of, at, distance)) return false;
      if (other.is_leaf() || rounding_.nearest(distance, other.reach) > radius_of) continue;
      if (tree_.nodes[other.first_child].level < node.level) continue;
      for (Number child = other.first_child; child < other.first_child + other.children; ++child) {
        const double to = child == other.first_child ? distance : metric_(tree_.nodes[child].centre, node.centre);
        walk_.push_back({child, to});
      }
    }
    return true;
  }

  struct Step {
    Number node;
    double distance;
  };

  const CoverTree& tree_;
  std::uint64_t objects_;
  core::CoverRounding rounding_;
  const CoverMetric& metric_;
  std::vector<Step> walk_;
  std::string message_;
};

}  // namespace

std::optional<std::string> check_cover_invariants(const CoverTree& tree, std::uint64_t objects,
                                                  const core::CoverRounding& rounding, const CoverMetric& metric) {
  return CoverCheck(tree, objects, rounding, metric).run();
}

}  // namespace kith::engine
