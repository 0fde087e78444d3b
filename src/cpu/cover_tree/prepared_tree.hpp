// A cover tree with its objects copied into the order in which searches measure them.
#pragma once

#include "cpu/cover_tree/scratch_pool.hpp"
#include "cpu/cover_tree/space.hpp"
#include "engine/cover_tree/cover_tree.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace kith::cpu {

/// Everything that a search looks at. The space outlives it. Thread-safe.
template <Space S>
class PreparedTree {
 public:
  /// Copies the objects: all of them in the order of the tree, and the centres in the order of the nodes.
  PreparedTree(const S& space, engine::CoverTree tree, int threads)
      : space_(&space),
        tree_(std::move(tree)),
        rounding_(space.rounding()),
        objects_(space.arrange(tree_.order, threads)),
        centres_(space.arrange(centres_of(tree_), threads)),
        is_uniform_(tree_.nodes.size()),
        scratch_(std::make_unique<ScratchPool<S>>(tree_.nodes.size())) {
    find_uniform_leaves(threads);
  }

  const S& space() const { return *space_; }
  const engine::CoverTree& tree() const { return tree_; }
  const engine::CoverNode& node(std::uint32_t i) const { return tree_.nodes[i]; }
  std::uint32_t size() const { return tree_.size(); }
  const core::CoverRounding& rounding() const { return rounding_; }
  const typename S::Rows& objects() const { return objects_; }
  const typename S::Rows& centres() const { return centres_; }
  /// Whether all objects of a leaf are the same, so that they are as far from any query as the centre is.
  bool is_uniform(std::uint32_t node) const { return is_uniform_[node] != 0; }
  /// Without distances nothing is known of the objects of a leaf but that they are there.
  bool has_distances() const { return !tree_.distances.empty(); }
  ScratchPool<S>& scratch() const { return *scratch_; }

  std::uint64_t memory_bytes() const {
    return tree_.memory_bytes() + objects_.memory_bytes() + centres_.memory_bytes() + is_uniform_.size();
  }

 private:
  static std::vector<std::uint32_t> centres_of(const engine::CoverTree& tree) {
    std::vector<std::uint32_t> centres(tree.nodes.size());
    std::transform(tree.nodes.begin(), tree.nodes.end(), centres.begin(), [](const auto& node) { return node.centre; });
    return centres;
  }

  void find_uniform_leaves(int threads) {
    constexpr std::uint64_t kNodesPerTask = 1024;
    const std::uint64_t nodes = tree_.nodes.size();
    runtime::parallel_for((nodes + kNodesPerTask - 1) / kNodesPerTask, {.threads = threads}, [&](std::uint64_t task) {
      for (std::uint64_t i = task * kNodesPerTask; i < std::min(nodes, (task + 1) * kNodesPerTask); ++i) {
        const engine::CoverNode& node = tree_.nodes[i];
        if (!node.is_leaf() || node.reach != 0) continue;
        const auto objects = tree_.order.subspan(node.first, node.count);
        is_uniform_[i] = std::all_of(objects.begin(), objects.end(), [&](std::uint32_t object) {
          return object == node.centre || space_->same(object, node.centre);
        });
      }
    });
  }

  const S* space_;
  engine::CoverTree tree_;
  core::CoverRounding rounding_;
  typename S::Rows objects_;
  typename S::Rows centres_;
  std::vector<std::uint8_t> is_uniform_;  ///< per node
  std::unique_ptr<ScratchPool<S>> scratch_;
};

}  // namespace kith::cpu
