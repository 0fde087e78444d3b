// Whether arrays are the unique k-d tree of the contract over the points that they hold. In this order: leaves,
// permutation, nodes from their children, split dimensions, then which side of every split the points lie on.
#include "engine/kd_tree/tree_sections.hpp"

#include "runtime/first_match.hpp"
#include "runtime/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace kith::engine {
namespace {

using core::KdGeometry;

/// Equal in every bit, with -0 nowhere: what the builder derives never has it.
template <typename T>
bool is_exactly(T stored, T expected) {
  return stored == expected && !(stored == 0 && std::signbit(stored));
}

template <typename T>
class Validator {
 public:
  Validator(const KdTree<T>& tree, int threads) : tree_(tree), geometry_(tree.geometry), threads_(threads) {}

  std::string run() const {
    using Check = std::string (Validator::*)() const;
    for (const Check check : {&Validator::check_leaves, &Validator::check_permutation, &Validator::check_nodes,
                              &Validator::check_split_dims, &Validator::check_sides}) {
      if (std::string violation = (this->*check)(); !violation.empty()) return violation;
    }
    return {};
  }

 private:
  /// A point by where it lies.
  struct Place {
    std::uint64_t leaf = 0;
    std::uint32_t i = 0;
  };

  T at(Place place, std::uint32_t d) const {
    return tree_.block(place.leaf)[std::uint64_t{d} * tree_.leaf_count(place.leaf) + place.i];
  }

  /// By the super-key of dimension d.
  bool precedes(Place a, Place b, std::uint32_t d) const {
    for (std::uint32_t step = 0; step < tree_.dims; ++step) {
      const std::uint32_t axis = d + step < tree_.dims ? d + step : d + step - tree_.dims;
      const T x = at(a, axis), y = at(b, axis);
      if (x != y) return x < y;
    }
    return tree_.block_indices(a.leaf)[a.i] < tree_.block_indices(b.leaf)[b.i];
  }

  // --- leaves ---

  std::string check_leaves() const {
    const std::uint64_t wrong = runtime::first_match(
        geometry_.leaves(), 256, threads_, [&](std::uint64_t leaf) { return !violation_in_leaf(leaf).empty(); });
    return wrong == geometry_.leaves() ? std::string() : violation_in_leaf(wrong);
  }

  std::string violation_in_leaf(std::uint64_t leaf) const {
    const std::uint32_t count = tree_.leaf_count(leaf);
    const std::uint32_t* indices = tree_.block_indices(leaf);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (indices[i] >= geometry_.points) {
        return fmt::format("leaf {}: it holds point {}, but there are only {}", leaf, indices[i], geometry_.points);
      }
      if (i > 0 && indices[i] <= indices[i - 1]) {
        return fmt::format("leaf {}: point {} comes after point {}", leaf, indices[i], indices[i - 1]);
      }
    }
    const auto* padding = reinterpret_cast<const std::byte*>(indices + count);
    const auto* end = tree_.blocks.data() + geometry_.first(geometry_.levels, leaf + 1) * tree_.point_bytes;
    if (!std::all_of(padding, end, [](std::byte byte) { return byte == std::byte{0}; })) {
      return fmt::format("leaf {}: the padding is not zero", leaf);
    }
    const std::uint64_t node = KdGeometry::node(geometry_.levels, leaf);
    if (tree_.smallest[node] != (count == 0 ? kNoPoint : indices[0])) {
      return fmt::format("leaf {}: {} is not its smallest point", leaf, tree_.smallest[node]);
    }
    for (std::uint32_t d = 0; d < tree_.dims; ++d) {
      const T* column = tree_.block(leaf) + std::uint64_t{d} * count;
      T low = std::numeric_limits<T>::infinity(), high = -low;
      for (std::uint32_t i = 0; i < count; ++i) {
        if (!std::isfinite(column[i])) {
          return fmt::format("leaf {}: coordinate {} of point {} is not finite", leaf, d, indices[i]);
        }
        low = std::min(low, column[i]);
        high = std::max(high, column[i]);
      }
      if (!is_exactly(tree_.lower(node)[d], low) || !is_exactly(tree_.upper(node)[d], high)) {
        return fmt::format("leaf {}: its box is not the tight one in dimension {}", leaf, d);
      }
    }
    return {};
  }

  // --- permutation ---

  /// As many entries as points, all in range: if one point is there twice, another is missing.
  std::string check_permutation() const {
    std::vector<std::atomic<std::uint64_t>> seen((geometry_.points + 63) / 64);
    constexpr std::uint64_t kLeavesPerTask = 256;
    runtime::parallel_for(
        (geometry_.leaves() + kLeavesPerTask - 1) / kLeavesPerTask, {.threads = threads_}, [&](std::uint64_t task) {
          const std::uint64_t end = std::min(geometry_.leaves(), (task + 1) * kLeavesPerTask);
          for (std::uint64_t leaf = task * kLeavesPerTask; leaf < end; ++leaf) {
            const std::uint32_t* indices = tree_.block_indices(leaf);
            for (std::uint32_t i = 0; i < tree_.leaf_count(leaf); ++i) {
              seen[indices[i] / 64].fetch_or(std::uint64_t{1} << (indices[i] % 64), std::memory_order_relaxed);
            }
          }
        });
    for (std::uint64_t word = 0; word < seen.size(); ++word) {
      const std::uint64_t point = word * 64 + static_cast<std::uint64_t>(std::countr_one(seen[word].load()));
      if (point < std::min(geometry_.points, word * 64 + 64)) return fmt::format("point {} lies in no leaf", point);
    }
    return {};
  }

  // --- boxes and smallest numbers of inner nodes ---

  /// From the leaves up, so that the node that is named is the one that is wrong, not its parent.
  std::string check_nodes() const {
    const std::uint64_t inner = geometry_.leaves() - 1;
    const std::uint64_t wrong = runtime::first_match(
        inner, 1024, threads_, [&](std::uint64_t i) { return !is_join_of_children(inner - 1 - i); });
    if (wrong == inner) return {};
    return fmt::format("node {}: its box or its smallest point is not that of its children", inner - 1 - wrong);
  }

  bool is_join_of_children(std::uint64_t node) const {
    const std::uint64_t left = 2 * node + 1, right = left + 1;
    for (std::uint32_t d = 0; d < tree_.dims; ++d) {
      if (!is_exactly(tree_.lower(node)[d], std::min(tree_.lower(left)[d], tree_.lower(right)[d])) ||
          !is_exactly(tree_.upper(node)[d], std::max(tree_.upper(left)[d], tree_.upper(right)[d]))) {
        return false;
      }
    }
    return tree_.smallest[node] == std::min(tree_.smallest[left], tree_.smallest[right]);
  }

  // --- split dimensions ---

  std::string check_split_dims() const {
    const std::uint64_t inner = geometry_.leaves() - 1;
    std::uint64_t wrong = runtime::first_match(
        inner, 4096, threads_, [&](std::uint64_t node) { return tree_.split_dims[node] >= tree_.dims; });
    if (wrong == inner) {
      wrong = runtime::first_match(inner, 1024, threads_, [&](std::uint64_t node) {
        const std::uint32_t expected = tree_.cycles ? level_of(node) % tree_.dims : CutBox(*this, node).widest();
        return tree_.split_dims[node] != expected;
      });
    }
    if (wrong == inner) return {};
    return fmt::format("node {}: {} is not the dimension to split", wrong, tree_.split_dims[wrong]);
  }

  static std::uint32_t level_of(std::uint64_t node) { return static_cast<std::uint32_t>(std::bit_width(node + 1)) - 1; }

  /// The box that decides a node's split: the tight one of its nearest ancestor at level 0, 6, 12, … (or its own), cut
  /// by the splits in between.
  class CutBox {
   public:
    CutBox(const Validator& validator, std::uint64_t node) : tree_(validator.tree_) {
      const std::uint32_t below = level_of(node) % core::kTightBoxEvery;
      for (cuts_ = 0; cuts_ < below; ++cuts_) {
        const std::uint64_t parent = (node - 1) / 2;
        path_[below - 1 - cuts_] = {tree_.split_dims[parent], node == 2 * parent + 2, tree_.split_values[parent]};
        node = parent;
      }
      tight_ = node;
    }

    /// Ties go to the lowest dimension.
    std::uint32_t widest() const {
      std::uint32_t widest = 0;
      T extent = side(0);
      for (std::uint32_t d = 1; d < tree_.dims; ++d) {
        if (side(d) > extent) {
          extent = side(d);
          widest = d;
        }
      }
      return widest;
    }

    T upper(std::uint32_t d) const {
      T value = tree_.upper(tight_)[d];
      for (std::uint32_t c = 0; c < cuts_; ++c) {
        if (path_[c].dim == d && !path_[c].is_right) value = path_[c].value;
      }
      return value;
    }

   private:
    struct Cut {
      std::uint32_t dim = 0;
      bool is_right = false;
      T value = 0;
    };

    T lower(std::uint32_t d) const {
      T value = tree_.lower(tight_)[d];
      for (std::uint32_t c = 0; c < cuts_; ++c) {
        if (path_[c].dim == d && path_[c].is_right) value = path_[c].value;
      }
      return value;
    }
    T side(std::uint32_t d) const { return upper(d) - lower(d); }

    const KdTree<T>& tree_;
    std::uint64_t tight_ = 0;
    std::uint32_t cuts_ = 0;
    std::array<Cut, core::kTightBoxEvery> path_;
  };

  // --- sides of the splits ---

  /// The last (or first) point of some leaves by the super-key of dimension d; nothing if they are empty.
  template <bool kLast>
  std::optional<Place> extreme(std::uint64_t first_leaf, std::uint64_t end_leaf, std::uint32_t d) const {
    std::optional<Place> best;
    T value = 0;
    for (std::uint64_t leaf = first_leaf; leaf < end_leaf; ++leaf) {
      const std::uint32_t count = tree_.leaf_count(leaf);
      const T* column = tree_.block(leaf) + std::uint64_t{d} * count;
      for (std::uint32_t i = 0; i < count; ++i) {
        const T x = column[i];
        if (best && (kLast ? x < value : x > value)) continue;
        const Place place{leaf, i};
        if (best && x == value && precedes(place, *best, d) == kLast) continue;
        best = place;
        value = x;
      }
    }
    return best;
  }

  /// Whether the split of a node is right, from the last point of its left half and the first of its right half.
  bool is_right_split(std::uint64_t node, const std::optional<Place>& last_left,
                      const std::optional<Place>& first_right) const {
    const std::uint32_t d = tree_.split_dims[node];
    const T value = tree_.split_values[node];
    if (!first_right) return is_exactly(value, CutBox(*this, node).upper(d));
    return is_exactly(value, at(*first_right, d)) && (!last_left || precedes(*last_left, *first_right, d));
  }

  /// Subtrees below the top levels are tasks; for every node above them a task finds its own extreme point, and these
  /// are put together afterwards.
  std::string check_sides() const {
    constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
    const std::uint32_t top = std::min(geometry_.levels, kTopLevels);
    const std::uint64_t subtrees = std::uint64_t{1} << top;
    const std::uint64_t leaves_each = std::uint64_t{1} << (geometry_.levels - top);
    std::vector<std::uint64_t> wrong(subtrees, kNone);
    std::vector<std::array<std::optional<Place>, kTopLevels>> extremes(subtrees);  // per level above
    runtime::parallel_for(subtrees, {.threads = threads_}, [&](std::uint64_t s) {
      for (std::uint32_t level = 0; level < top; ++level) {
        const std::uint32_t d = tree_.split_dims[KdGeometry::node(level, s >> (top - level))];
        const bool is_right = ((s >> (top - level - 1)) & 1) != 0;
        extremes[s][level] = is_right ? extreme<false>(s * leaves_each, (s + 1) * leaves_each, d)
                                      : extreme<true>(s * leaves_each, (s + 1) * leaves_each, d);
      }
      wrong[s] = first_wrong_split_below(top, s);
    });
    std::uint64_t first = *std::min_element(wrong.begin(), wrong.end());
    for (std::uint32_t level = 0; level < top; ++level) {
      for (std::uint64_t j = 0; j < (std::uint64_t{1} << level); ++j) {
        const std::uint64_t node = KdGeometry::node(level, j);
        if (!is_right_top_split(level, j, top, extremes)) first = std::min(first, node);
      }
    }
    if (first == kNone) return {};
    return fmt::format("node {}: a point lies on the wrong side of its split, or the split value is wrong", first);
  }

  bool is_right_top_split(std::uint32_t level, std::uint64_t j, std::uint32_t top, const auto& extremes) const {
    const std::uint64_t node = KdGeometry::node(level, j);
    const std::uint32_t d = tree_.split_dims[node];
    std::optional<Place> last_left, first_right;
    const std::uint64_t each = std::uint64_t{1} << (top - level);
    for (std::uint64_t s = j * each; s < (j + 1) * each; ++s) {
      const std::optional<Place>& place = extremes[s][level];
      if (!place) continue;
      if (s < j * each + each / 2) {
        if (!last_left || precedes(*last_left, *place, d)) last_left = place;
      } else if (!first_right || precedes(*place, *first_right, d)) {
        first_right = place;
      }
    }
    return is_right_split(node, last_left, first_right);
  }

  /// The smallest number of a node in the subtree of (level, j) whose split is wrong; the largest number there is if
  /// all are right.
  std::uint64_t first_wrong_split_below(std::uint32_t level, std::uint64_t j) const {
    for (std::uint64_t width = 1; level < geometry_.levels; ++level, j *= 2, width *= 2) {
      const std::uint64_t leaves_each = std::uint64_t{1} << (geometry_.levels - level);
      for (std::uint64_t k = j; k < j + width; ++k) {
        const std::uint64_t node = KdGeometry::node(level, k), first = k * leaves_each;
        const std::uint32_t d = tree_.split_dims[node];
        if (!is_right_split(node, extreme<true>(first, first + leaves_each / 2, d),
                            extreme<false>(first + leaves_each / 2, first + leaves_each, d))) {
          return node;
        }
      }
    }
    return std::numeric_limits<std::uint64_t>::max();
  }

  static constexpr std::uint32_t kTopLevels = 6;

  const KdTree<T>& tree_;
  const KdGeometry& geometry_;
  int threads_;
};

}  // namespace

template <typename T>
std::string first_violation(const KdTree<T>& tree, int threads) {
  return Validator<T>(tree, threads).run();
}

template std::string first_violation(const KdTree<float>&, int);
template std::string first_violation(const KdTree<double>&, int);

}  // namespace kith::engine
