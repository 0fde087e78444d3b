// See tree_sections.hpp.
#include "engine/kd_tree/tree_sections.hpp"

#include "engine/index_file/validate_section.hpp"
#include "engine/validate.hpp"
#include "runtime/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace kith::engine {
namespace {

static_assert(kReadableAfterSection >= kBlockSlack, "vectors may run over the end of the last leaf");

/// Values of a box; at least one, because an element has a size even if there are no dimensions.
std::uint32_t box_values(std::uint32_t dims) { return std::max(1u, 2 * dims); }

}  // namespace

template <typename T>
void save_tree(const KdTree<T>& tree, IndexFileWriter& writer) {
  writer.set_parameter(kLeafSizeParameter, tree.leaf_size);
  writer.set_parameter(kSplitRuleParameter, tree.cycles ? 1 : 0);
  writer.add_bytes(SectionId::blocks, tree.point_bytes, tree.blocks);
  writer.add(SectionId::split_dims, tree.split_dims);
  writer.add(SectionId::split_values, tree.split_values);
  writer.add(SectionId::boxes, tree.boxes, box_values(tree.dims));
  writer.add(SectionId::smallest, tree.smallest);
}

template <typename T>
KdTree<T> tree_in_file(const IndexFile& file) {
  const IndexFacts& facts = file.facts();
  file.require_only({SectionId::blocks, SectionId::split_dims, SectionId::split_values, SectionId::boxes,
                     SectionId::smallest, SectionId::original, SectionId::period, SectionId::metric_params});
  require_zero_parameters(file, kSplitRuleParameter + 1);
  const std::uint32_t leaf_size = facts.parameters[kLeafSizeParameter];
  const std::uint32_t split_rule = facts.parameters[kSplitRuleParameter];
  if (leaf_size < 1 || leaf_size > kMostPerLeaf) {
    file.refuse(fmt::format("a leaf size of {} is not between 1 and {}", leaf_size, kMostPerLeaf));
  }
  if (split_rule > 1) file.refuse(fmt::format("there is no split rule with the number {}", split_rule));

  KdTree<T> tree;
  tree.geometry = core::KdGeometry::of(facts.points, leaf_size);
  tree.dims = facts.dims;
  tree.leaf_size = leaf_size;
  tree.cycles = split_rule == 1;
  tree.point_bytes = KdTree<T>::point_bytes_of(facts.dims);
  const std::uint64_t inner = tree.geometry.leaves() - 1, nodes = tree.geometry.nodes();
  tree.blocks = file.bytes(SectionId::blocks, tree.point_bytes, facts.points);
  tree.split_dims = file.values<std::uint16_t>(SectionId::split_dims, inner);
  tree.split_values = file.values<T>(SectionId::split_values, inner);
  tree.boxes = file.values<T>(SectionId::boxes, facts.dims == 0 ? 0 : nodes, box_values(facts.dims));
  tree.smallest = file.values<std::uint32_t>(SectionId::smallest, nodes);
  tree.owner = file.owner();
  return tree;
}

template <typename T>
void require_inside_period(const KdTree<T>& tree, const LoadRequest& request) {
  if (tree.geometry.points == 0) return;
  const std::vector<T> lengths = request.lengths<T>();
  for (std::uint32_t d = 0; d < lengths.size(); ++d) {  // the tight box of all points tells
    if (tree.lower(0)[d] >= 0 && tree.upper(0)[d] < lengths[d]) continue;
    if (lengths[d] == std::numeric_limits<T>::infinity()) continue;
    request.file.refuse(fmt::format("a point lies outside [0, {}) of periodic axis {}", lengths[d], d));
  }
}

template <typename T>
KdTree<T> load_tree(const LoadRequest& request) {
  KdTree<T> tree = tree_in_file<T>(request.file);
  if (request.file.is_trusted()) return tree;
  const std::string violation = first_violation(tree, request.run.threads);
  if (!violation.empty()) request.file.refuse(violation);
  require_inside_period(tree, request);
  return tree;
}

template <typename T>
void copy_tree_rows(const KdTree<T>& tree, T* rows, int threads) {
  constexpr std::uint64_t kLeavesPerTask = 1024;
  const std::uint64_t leaves = tree.geometry.leaves();
  runtime::parallel_for((leaves + kLeavesPerTask - 1) / kLeavesPerTask, {.threads = threads}, [&](std::uint64_t task) {
    const std::uint64_t end = std::min(leaves, (task + 1) * kLeavesPerTask);
    for (std::uint64_t leaf = task * kLeavesPerTask; leaf < end; ++leaf) {
      const std::uint64_t count = tree.leaf_count(leaf);
      const T* block = tree.block(leaf);
      const std::uint32_t* indices = tree.block_indices(leaf);
      for (std::uint64_t i = 0; i < count; ++i) {
        T* row = rows + std::uint64_t{indices[i]} * tree.dims;
        for (std::uint32_t d = 0; d < tree.dims; ++d) row[d] = block[d * count + i];
      }
    }
  });
}

template void save_tree(const KdTree<float>&, IndexFileWriter&);
template void save_tree(const KdTree<double>&, IndexFileWriter&);
template KdTree<float> tree_in_file(const IndexFile&);
template KdTree<double> tree_in_file(const IndexFile&);
template void require_inside_period(const KdTree<float>&, const LoadRequest&);
template void require_inside_period(const KdTree<double>&, const LoadRequest&);
template KdTree<float> load_tree(const LoadRequest&);
template KdTree<double> load_tree(const LoadRequest&);
template void copy_tree_rows(const KdTree<float>&, float*, int);
template void copy_tree_rows(const KdTree<double>&, double*, int);

}  // namespace kith::engine
