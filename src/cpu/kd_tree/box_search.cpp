// See box_search.hpp.
#include "cpu/kd_tree/box_search.hpp"

#include "cpu/box_lists.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace kith::cpu {
namespace {

enum class Position : std::uint8_t { outside, across, inside };

/// Where the tight box of a node lies.
template <typename T>
Position position_of(const KdTree<T>& tree, std::uint64_t node, const T* lower, const T* upper) {
  const T* low = tree.lower(node);
  const T* high = tree.upper(node);
  bool is_inside = true;
  for (std::uint32_t d = 0; d < tree.dims; ++d) {
    if (high[d] < lower[d] || upper[d] < low[d]) return Position::outside;
    is_inside = is_inside && lower[d] <= low[d] && high[d] <= upper[d];
  }
  return is_inside ? Position::inside : Position::across;
}

/// Calls `take_leaves(first, end)` for runs of leaves that are wholly inside and `take(index)` for points of the others
/// that are. What a filter wants is left to the two, but nodes that hold only points past its end are passed over.
template <typename T, typename TakeLeaves, typename Take>
void search_box(const KdTree<T>& tree, const engine::BoxBatch<T>& boxes, std::uint64_t box, TakeLeaves&& take_leaves,
                Take&& take) {
  const T* lower = boxes.lower_of(box);
  const T* upper = boxes.upper_of(box);
  if (tree.geometry.points == 0 || is_empty_box(lower, upper, tree.dims)) return;
  const std::uint32_t end = boxes.filter.end(box);
  const std::uint32_t levels = tree.geometry.levels;
  const std::uint64_t first_leaf = tree.geometry.leaves() - 1;
  std::uint64_t pending[64];  // at most one per level and the root's
  std::uint32_t depth = 0;
  pending[depth++] = 0;
  while (depth > 0) {
    const std::uint64_t node = pending[--depth];
    if (tree.smallest[node] >= end) continue;
    const Position position = position_of(tree, node, lower, upper);
    if (position == Position::outside) continue;
    if (position == Position::inside) {
      const auto level = static_cast<std::uint32_t>(std::bit_width(node + 1) - 1);
      const std::uint64_t j = node + 1 - (std::uint64_t{1} << level);
      take_leaves(j << (levels - level), (j + 1) << (levels - level));
    } else if (node < first_leaf) {
      pending[depth++] = 2 * node + 2;
      pending[depth++] = 2 * node + 1;
    } else {
      const std::uint64_t leaf = node - first_leaf;
      const T* block = tree.block(leaf);
      const std::size_t stride = tree.block_stride(leaf);
      for (std::uint32_t i = 0; i < tree.leaf_count(leaf); ++i) {
        bool is_inside = true;
        for (std::uint32_t d = 0; d < tree.dims && is_inside; ++d) {
          is_inside = lower[d] <= block[d * stride + i] && block[d * stride + i] <= upper[d];
        }
        if (is_inside) take(tree.block_indices(leaf)[i]);
      }
    }
  }
}

/// Calls `take(index)` for every point of a box that the filter admits, in no order.
template <typename T, typename Take>
void for_each_in_box(const KdTree<T>& tree, const engine::BoxBatch<T>& boxes, std::uint64_t box, Take&& take) {
  const auto take_admitted = [&](std::uint32_t index) {
    if (boxes.filter.admits(box, index)) take(index);
  };
  search_box(
      tree, boxes, box,
      [&](std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t leaf = first; leaf < end; ++leaf) {
          const std::uint32_t* indices = tree.block_indices(leaf);
          for (std::uint32_t i = 0; i < tree.leaf_count(leaf); ++i) take_admitted(indices[i]);
        }
      },
      take_admitted);
}

template <typename T>
std::uint32_t count_in_box(const KdTree<T>& tree, const engine::BoxBatch<T>& boxes, std::uint64_t box) {
  std::uint32_t count = 0;
  if (!boxes.filter.is_open()) {
    for_each_in_box(tree, boxes, box, [&](std::uint32_t) { ++count; });
    return count;
  }
  const core::KdGeometry& geometry = tree.geometry;
  search_box(
      tree, boxes, box,
      [&](std::uint64_t first, std::uint64_t end) {
        count +=
            static_cast<std::uint32_t>(geometry.first(geometry.levels, end) - geometry.first(geometry.levels, first));
      },
      [&](std::uint32_t) { ++count; });
  return count;
}

}  // namespace

template <typename T>
engine::IndexLists search_boxes(const KdTree<T>& tree, const engine::BoxBatch<T>& boxes,
                                const engine::RunOptions& run) {
  return collect_boxes(boxes.count, run, [&](std::uint64_t box, std::vector<std::uint32_t>& list) {
    const auto before = static_cast<std::ptrdiff_t>(list.size());
    for_each_in_box(tree, boxes, box, [&](std::uint32_t index) { list.push_back(index); });
    std::sort(list.begin() + before, list.end());
  });
}

template <typename T>
void count_in_boxes(const KdTree<T>& tree, const engine::BoxBatch<T>& boxes, const engine::RunOptions& run,
                    std::uint32_t* counts) {
  for_boxes(boxes.count, run, [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t box = first; box < end; ++box) counts[box] = count_in_box(tree, boxes, box);
  });
}

template engine::IndexLists search_boxes(const KdTree<float>&, const engine::BoxBatch<float>&,
                                         const engine::RunOptions&);
template engine::IndexLists search_boxes(const KdTree<double>&, const engine::BoxBatch<double>&,
                                         const engine::RunOptions&);
template void count_in_boxes(const KdTree<float>&, const engine::BoxBatch<float>&, const engine::RunOptions&,
                             std::uint32_t*);
template void count_in_boxes(const KdTree<double>&, const engine::BoxBatch<double>&, const engine::RunOptions&,
                             std::uint32_t*);

}  // namespace kith::cpu
