// Whether the order of a tree is right, in one pass over its points; what is wrong verify_tree.cpp finds out.
#pragma once

#include "apps/tree_ranges.hpp"
#include "runtime/parallel.hpp"

#include <kith/apps/verify_tree.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace kith::apps::inline v0 {

/// The tree in order, as it claims to be.
struct ClaimedTree {
  const TreeFacts& facts;
  const std::vector<std::uint32_t>& rows;       // the point at each position
  const std::vector<std::uint32_t>& split_dim;  // of the node at each position
  std::span<const std::uint32_t> nodes;         // the number of that node; empty: its position

  /// "node 5 (point 17)" or "position 5 (point 17)".
  std::string name(std::uint64_t position) const {
    if (nodes.empty()) return fmt::format("position {} (point {})", position, rows[position]);
    return fmt::format("node {} (point {})", nodes[position], rows[position]);
  }
};

/// Whether split dimensions and sides of all ranges are right, in one pass. A point must lie between the last two of
/// its ancestors, one on each side, that split a dimension: by the order of that dimension these lie between all
/// others. Boxes are joined on the way up. kDims is 0 where they are known at run time only.
template <typename T, std::uint32_t kDims>
class QuickCheck {
 public:
  QuickCheck(const ClaimedTree& tree, PointView points) : tree_(tree), points_(points) {}

  /// Subtrees are tasks, and so are the nodes above them, all numbered level by level: 0 is the root.
  bool run(const VerifyTreeOptions& options) const {
    constexpr std::uint64_t kSubtrees = 256, kSmallTree = 1 << 14;
    const std::uint64_t count = tree_.rows.size(), subtrees = count < kSmallTree ? 1 : kSubtrees;
    const std::uint64_t tasks = count == 0 ? 0 : 2 * subtrees - 1;
    std::vector<T> boxes(tasks * 2 * dims());
    std::atomic<bool> is_right = true;
    const auto box_of = [&](std::uint64_t task) { return boxes.data() + task * 2 * dims(); };
    const std::uint64_t units = (count + subtrees - 1) / subtrees;
    runtime::parallel_for(subtrees, {options.threads, "checking", &options.progress, units, count},
                          [&](std::uint64_t i) {
                            const std::uint64_t task = subtrees - 1 + i;
                            if (task >= tasks || !is_right.load(std::memory_order_relaxed)) return;
                            Walk walk(*this);
                            const TreeRange range = walk.descend(task);
                            if (!walk.is_right(range, box_of(task), walk.memory())) is_right = false;
                          });
    for (std::uint64_t task = tasks / 2; is_right && task-- > 0;) {
      Walk walk(*this);
      const TreeRange range = walk.descend(task);
      const std::uint64_t node = range.middle();
      std::copy_n(box_of(2 * task + 1), 2 * dims(), box_of(task));
      join(box_of(task), box_of(2 * task + 2), box_of(2 * task + 2) + dims());
      join(box_of(task), row(node), row(node));
      if (!walk.is_between(node) || tree_.split_dim[node] != expected(range, box_of(task))) is_right = false;
    }
    return is_right;
  }

 private:
  /// One way from the root down, and what lies below its end.
  class Walk {
   public:
    explicit Walk(const QuickCheck& check)
        : check_(check), after_(check.dims(), -kInfinity), before_(check.dims(), kInfinity) {}

    /// To the range of a number. Split dimensions that are none end nothing: their own nodes are looked at, too.
    TreeRange descend(std::uint64_t number) {
      TreeRange range{0, check_.tree_.rows.size(), 0, check_.tree_.facts.middle};
      for (int level = std::bit_width(number + 1) - 1; level-- > 0;) {
        const std::uint64_t node = range.middle();
        const bool is_greater = ((number + 1) >> level & 1) != 0;
        const std::uint32_t dim = check_.tree_.split_dim[node];
        if (dim < check_.dims()) (is_greater ? after_ : before_).set(dim, {check_.row(node)[dim], node});
        range = is_greater ? TreeRange{node + 1, range.last, range.level + 1, range.rule}
                           : TreeRange{range.first, node, range.level + 1, range.rule};
      }
      return range;
    }

    /// A box for each level below.
    T* memory() {
      constexpr std::uint64_t kMostLevels = 33;
      memory_.resize(kMostLevels * 2 * check_.dims());
      return memory_.data();
    }

    bool is_between(std::uint64_t position) const {
      const T* const x = check_.row(position);
      bool is_inside = true;
      for (std::uint32_t d = 0; d < check_.dims(); ++d) {
        is_inside &= after_.values[d] < x[d];
        is_inside &= x[d] < before_.values[d];
      }
      if (is_inside) return true;
      for (std::uint32_t d = 0; d < check_.dims(); ++d) {  // equal coordinates: the rest of the order decides
        const std::uint64_t below = after_.positions[d], above = before_.positions[d];
        if (below != kNone && !precedes(check_.at(below), check_.at(position), d, check_.dims())) return false;
        if (above != kNone && !precedes(check_.at(position), check_.at(above), d, check_.dims())) return false;
      }
      return true;
    }

    /// The whole subtree; `box` becomes its tight box.
    bool is_right(const TreeRange& range, T* box, T* memory) {
      const std::uint64_t node = range.middle();
      const std::uint32_t dim = check_.tree_.split_dim[node], dims = check_.dims();
      if (dim >= dims || !is_between(node)) return false;
      const T* const x = check_.row(node);
      std::copy_n(x, dims, box);
      std::copy_n(x, dims, box + dims);
      const auto is_right_below = [&](Bounds& bounds, const TreeRange& child) {
        const Bound outer = bounds.set(dim, {x[dim], node});
        const T* const leaf = child.size() == 1 ? check_.row(child.first) : nullptr;  // half of all nodes
        const bool is_right_there =
            leaf != nullptr ? is_between(child.first) && check_.tree_.split_dim[child.first] == check_.of_leaf(child)
                            : is_right(child, memory, memory + 2 * dims);
        bounds.set(dim, outer);
        check_.join(box, leaf != nullptr ? leaf : memory, leaf != nullptr ? leaf : memory + dims);
        return is_right_there;
      };
      const std::uint32_t level = range.level + 1;
      if (range.first < node && !is_right_below(before_, {range.first, node, level, range.rule})) return false;
      if (node + 1 < range.last && !is_right_below(after_, {node + 1, range.last, level, range.rule})) return false;
      return dim == check_.expected(range, box);
    }

   private:
    static constexpr std::uint64_t kNone = ~std::uint64_t{0};
    static constexpr T kInfinity = std::numeric_limits<T>::infinity();
    template <typename Value>
    using PerDim = std::conditional_t<kDims == 0, std::vector<Value>, std::array<Value, std::max(kDims, 1u)>>;

    struct Bound {
      T value;
      std::uint64_t position;  ///< of the ancestor, or kNone
    };
    struct Bounds {
      Bounds(std::uint32_t dims, T none) {
        if constexpr (kDims == 0) {
          values.resize(dims);
          positions.resize(dims);
        }
        std::fill(values.begin(), values.end(), none);
        std::fill(positions.begin(), positions.end(), kNone);
      }
      Bound set(std::uint32_t d, Bound bound) {
        return {std::exchange(values[d], bound.value), std::exchange(positions[d], bound.position)};
      }
      PerDim<T> values;
      PerDim<std::uint64_t> positions;
    };

    const QuickCheck& check_;
    Bounds after_, before_;  ///< the points come after these, and before these
    std::vector<T> memory_;
  };

  std::uint32_t dims() const { return kDims == 0 ? points_.dims() : kDims; }
  const T* row(std::uint64_t position) const { return points_.template row<T>(position); }
  NumberedPoint<T> at(std::uint64_t position) const { return {row(position), tree_.rows[position]}; }

  void join(T* box, const T* low, const T* high) const {
    for (std::uint32_t d = 0; d < dims(); ++d) {
      box[d] = std::min(box[d], low[d]);
      box[dims() + d] = std::max(box[dims() + d], high[d]);
    }
  }

  std::uint32_t of_leaf(const TreeRange& range) const {
    return tree_.facts.split == SplitRule::cycle ? range.level % dims() : 0;
  }

  /// As split_dimension, from the box.
  std::uint32_t expected(const TreeRange& range, const T* box) const {
    if (tree_.facts.split == SplitRule::cycle) return range.level % dims();
    std::uint32_t widest = 0;
    for (std::uint32_t d = 1; d < dims(); ++d) {
      if (box[dims() + d] - box[d] > box[dims() + widest] - box[widest]) widest = d;
    }
    return widest;
  }

  const ClaimedTree& tree_;
  PointView points_;  // in the order of the tree
};

}  // namespace kith::apps::inline v0
