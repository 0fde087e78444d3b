// The end of a build: objects leaf by leaf, ranges of nodes, and how far each node reaches.
#pragma once

#include "cpu/cover_tree/build_state.hpp"
#include "cpu/cover_tree/one_with_many.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace kith::cpu {

/// The arrays of a tree that was built here.
struct CoverStorage {
  std::vector<engine::CoverNode> nodes;
  std::vector<std::uint32_t> order;
  std::vector<double> distances;
};

/// Ranges of nodes from the sizes of leaves: children lie one after the other, in the order of nodes.
inline void set_ranges(std::vector<engine::CoverNode>& nodes, const CoverLeaves& leaves) {
  for (const auto& leaf : leaves.leaves) nodes[leaf.node].count = leaf.count;
  for (std::size_t i = nodes.size(); i-- > 1;) nodes[nodes[i].parent].count += nodes[i].count;
  for (engine::CoverNode& node : nodes) {
    std::uint32_t first = node.first;
    for (std::uint32_t child = node.first_child; child < node.first_child + node.children; ++child) {
      nodes[child].first = first;
      first += nodes[child].count;
    }
  }
}

/// Objects of leaves by (distance, number), reach and lowest number of leaves.
inline void set_leaves(CoverStorage& storage, const CoverLeaves& leaves, int threads) {
  storage.order.resize(leaves.objects.size());
  storage.distances.resize(leaves.objects.size());
  constexpr std::size_t kBlock = 64;
  runtime::parallel_for((leaves.leaves.size() + kBlock - 1) / kBlock, {.threads = threads}, [&](std::uint64_t block) {
    std::vector<std::pair<double, std::uint32_t>> objects;
    const std::size_t end = std::min(leaves.leaves.size(), (block + 1) * kBlock);
    for (std::size_t l = block * kBlock; l < end; ++l) {
      const auto& leaf = leaves.leaves[l];
      engine::CoverNode& node = storage.nodes[leaf.node];
      objects.resize(leaf.count);
      for (std::uint32_t i = 0; i < leaf.count; ++i) {
        objects[i] = {leaves.distances[leaf.first + i], leaves.objects[leaf.first + i]};
      }
      std::sort(objects.begin(), objects.end());
      node.reach = objects.back().first;
      node.lowest = kNone;
      for (std::uint32_t i = 0; i < leaf.count; ++i) {
        storage.distances[node.first + i] = objects[i].first;
        storage.order[node.first + i] = objects[i].second;
        node.lowest = std::min(node.lowest, objects[i].second);
      }
    }
  });
}

/// The farthest object of inner nodes, found by a walk below each that leaves out what cannot be farther than the
/// farthest so far. The objects of the first child are known from there.
template <Space S>
class FarthestObjects {
 public:
  FarthestObjects(const S& space, CoverStorage& storage, CoverWork& work, int threads)
      : space_(space), storage_(storage), work_(work), threads_(threads) {}

  void run() {
    auto& nodes = storage_.nodes;
    bool has_inner = false;
    for (std::size_t i = nodes.size(); i-- > 0;) {
      const engine::CoverNode& node = nodes[i];
      if (i > 0) nodes[node.parent].lowest = std::min(nodes[node.parent].lowest, node.lowest);
      has_inner |= !node.is_leaf();
    }
    if (!has_inner) return;
    const bool by_few = prefers_few(space_);
    const typename S::Rows rows = space_.arrange(by_few ? std::span<const std::uint32_t>() : storage_.order, threads_);
    std::vector<std::uint32_t> centre_numbers(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) centre_numbers[i] = nodes[i].centre;
    const typename S::Rows centres = space_.arrange(centre_numbers, threads_);
    // Nodes of a level need those below only.
    for (std::size_t end = nodes.size(); end > 0;) {
      std::size_t begin = end;
      while (begin > 0 && nodes[begin - 1].level == nodes[end - 1].level) --begin;
      constexpr std::size_t kBlock = 16;
      runtime::parallel_for((end - begin + kBlock - 1) / kBlock, {.threads = threads_}, [&](std::uint64_t block) {
        Walk walk;
        const std::size_t last = std::min(end, begin + (block + 1) * kBlock);
        for (std::size_t i = begin + block * kBlock; i < last; ++i) {
          if (!nodes[i].is_leaf()) nodes[i].reach = farthest(nodes[i], rows, centres, walk);
        }
        work_.reach.evaluations += walk.evaluations;
      });
      end = begin;
    }
  }

 private:
  struct Step {
    double most;  ///< no object of the node is farther
    double distance;
    std::uint32_t node;
    bool operator<(const Step& other) const { return most < other.most; }
  };
  struct Walk {
    typename S::Query query;
    OneWithMany<S> one;
    std::vector<Step> steps;  ///< a heap, the farthest on top
    std::vector<typename S::Value> values;
    std::uint64_t evaluations = 0;
  };

  double farthest(const engine::CoverNode& of, const typename S::Rows& rows, const typename S::Rows& centres,
                  Walk& walk) const {
    const auto& nodes = storage_.nodes;
    const core::CoverRounding rounding = space_.rounding();
    constexpr auto kNoLimit = std::numeric_limits<typename S::Value>::max();
    double best = nodes[of.first_child].reach;
    walk.steps.clear();
    const auto add = [&](std::uint32_t node, double distance) {
      const double most = rounding.farthest(distance, nodes[node].reach);
      if (most <= best) return;
      walk.steps.push_back({most, distance, node});
      std::push_heap(walk.steps.begin(), walk.steps.end());
    };
    for (std::uint32_t c = of.first_child + 1; c < of.first_child + of.children; ++c) add(c, nodes[c].to_parent);
    bool asked = false;
    while (!walk.steps.empty() && walk.steps.front().most > best) {
      runtime::look_for_stop();
      const Step step = walk.steps.front();
      std::pop_heap(walk.steps.begin(), walk.steps.end());
      walk.steps.pop_back();
      if (!asked) space_.ask(walk.query, of.centre);
      asked = true;
      const engine::CoverNode& node = nodes[step.node];
      if (!node.is_leaf()) {
        walk.values.resize(node.children);
        centres.measure(walk.query, node.first_child, node.children, kNoLimit, walk.values.data());
        walk.evaluations += node.children;
        for (std::uint32_t c = 0; c < node.children; ++c) {
          add(node.first_child + c, c == 0 ? step.distance : space_.metric(walk.values[c]));
        }
        continue;
      }
      const double* distances = storage_.distances.data() + node.first;
      const auto skipped = static_cast<std::uint32_t>(
          std::partition_point(distances, distances + node.count,
                               [&](double of_object) { return rounding.farthest(step.distance, of_object) <= best; }) -
          distances);
      const std::uint32_t count = node.count - skipped;
      walk.values.resize(count);
      if (prefers_few(space_)) {
        walk.one.measure(space_, of.centre, storage_.order.data() + node.first + skipped, count, walk.values.data());
      } else {
        rows.measure(walk.query, node.first + skipped, count, kNoLimit, walk.values.data());
      }
      walk.evaluations += count;
      best = std::max(best, space_.metric(*std::max_element(walk.values.begin(), walk.values.end())));
    }
    return best;
  }

  const S& space_;
  CoverStorage& storage_;
  CoverWork& work_;
  int threads_;
};

}  // namespace kith::cpu
