// The cuts as far as they are known: radix selection on the super-key, for all nodes of a level at once, from the sums
// of what all participants count. See kith/shards/cut.hpp.
#include "core/dispatch.hpp"
#include "shards/check_rules.hpp"
#include "shards/cut_bins.hpp"

#include <kith/error.hpp>
#include <kith/shards/cut.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace kith::shards::inline v0 {

CutPlan::CutPlan(const PointFacts& facts, const CutRules& rules)
    : shards_(rules.shards),
      dims_(static_cast<std::uint32_t>(facts.lower.size())),
      dtype_(facts.dtype),
      split_(rules.split),
      points_(facts.searched),
      rows_(facts.rows) {
  require_rules(rules);
  facts.require_good();
  Node root;
  root.end_shard = shards_;
  core::visit_dtype(dtype_, [&](auto zero) {
    using T = decltype(zero);
    for (std::uint32_t d = 0; d < dims_; ++d) {
      root.lower.push_back(ordered(static_cast<T>(facts.lower[d])));
      root.upper.push_back(ordered(static_cast<T>(facts.upper[d])));
    }
  });
  nodes_.push_back(std::move(root));
  if (shards_ > 1) open_.push_back(0);
  begin_levels();
}

std::size_t CutPlan::counts() const { return unknown_.size() * kBins; }

/// Goes on until a cut needs counts, or all shards are cut.
void CutPlan::begin_levels() {
  while (!open_.empty()) {
    unknown_.clear();
    is_first_of_level_ = true;
    for (const std::uint32_t node : open_) {
      begin_cut(nodes_[node]);
      if (!nodes_[node].cut.is_known) unknown_.push_back(node);
    }
    if (!unknown_.empty()) return;
    divide_open();
  }
}

void CutPlan::begin_cut(Node& node) const {
  const std::uint32_t middle = (node.first_shard + node.end_shard) / 2;
  const std::uint64_t points = first(node.end_shard) - first(node.first_shard);
  Cut& cut = node.cut;
  cut.rank = first(middle) - first(node.first_shard);
  if (cut.rank == points) {  // nothing on the right
    cut.components = {kAboveAll};
    cut.is_known = true;
    return;
  }
  cut.dim = dim_to_cut(node);
  cut.low = node.lower[cut.dim];
  cut.high = node.upper[cut.dim];
  if (cut.low == cut.high) begin_component(node);
}

/// The widest side, ties to the lowest dimension, or one after the other.
std::uint32_t CutPlan::dim_to_cut(const Node& node) const {
  if (split_ == SplitRule::cycle) return level_ % dims_;
  return core::visit_dtype(dtype_, [&](auto zero) {
    using T = decltype(zero);
    const auto side = [&](std::uint32_t d) {
      return coordinate_of<T>(node.upper[d]) - coordinate_of<T>(node.lower[d]);
    };
    std::uint32_t widest = 0;
    for (std::uint32_t d = 1; d < dims_; ++d) {
      if (side(d) > side(widest)) widest = d;
    }
    return widest;
  });
}

/// Takes the component that is left of the range, and those that follow it as long as there is no choice.
void CutPlan::begin_component(Node& node) const {
  Cut& cut = node.cut;
  while (cut.low == cut.high || (cut.rank == 0 && !cut.components.empty())) {
    cut.components.push_back(cut.low);
    if (cut.rank == 0) {  // all that are equal so far go to the right
      cut.is_known = true;
      return;
    }
    const std::size_t c = cut.components.size();
    if (c > dims_) throw UsageError(fmt::format("numbers: more than one point has the number {}", cut.low));
    const std::size_t d = (cut.dim + c) % dims_;
    cut.low = c < dims_ ? node.lower[d] : 0;
    cut.high = c < dims_ ? node.upper[d] : rows_ - 1;
  }
}

void CutPlan::narrow(Node& node, std::span<const std::uint64_t> sums) const {
  Cut& cut = node.cut;
  std::size_t bin = 0;
  while (bin < sums.size() && cut.rank >= sums[bin]) cut.rank -= sums[bin++];
  if (bin == sums.size()) throw UsageError("cut: the sums are not those of the points that were described");
  const std::uint32_t shift = bin_shift(cut);
  cut.low += static_cast<std::uint64_t>(bin) << shift;
  if (cut.low > cut.high) throw UsageError("cut: the sums are not those of the points that were described");
  cut.high = cut.low + std::min(cut.high - cut.low, (std::uint64_t{1} << shift) - 1);  // low + 2^shift may overflow
  begin_component(node);
}

void CutPlan::take(std::span<const std::uint64_t> sums) {
  if (sums.size() != counts()) {
    throw UsageError(fmt::format("cut: {} sums, but this round needs {}", sums.size(), counts()));
  }
  for (std::size_t i = 0; i < unknown_.size(); ++i) narrow(nodes_[unknown_[i]], sums.subspan(i * kBins, kBins));
  ++rounds_;
  is_first_of_level_ = false;
  std::erase_if(unknown_, [&](std::uint32_t node) { return nodes_[node].cut.is_known; });
  if (!unknown_.empty()) return;
  divide_open();
  begin_levels();
}

/// Gives the nodes of this level their children, which are the next one.
void CutPlan::divide_open() {
  std::vector<std::uint32_t> next;
  for (const std::uint32_t number : open_) {
    const auto child = [&](std::uint32_t from, std::uint32_t to, std::vector<std::uint64_t> Node::*side) {
      Node node;
      node.first_shard = from;
      node.end_shard = to;
      const Node& parent = nodes_[number];
      if (first(from) != first(to)) {
        node.lower = parent.lower;
        node.upper = parent.upper;
        const std::uint64_t split = parent.cut.components[0];
        if (split != kAboveAll) (node.*side)[parent.cut.dim] = split;
      }
      const auto place = static_cast<std::uint32_t>(nodes_.size());
      if (to - from > 1) next.push_back(place);
      nodes_.push_back(std::move(node));
      return place;
    };
    const std::uint32_t from = nodes_[number].first_shard, to = nodes_[number].end_shard, middle = (from + to) / 2;
    const std::uint32_t left = child(from, middle, &Node::upper), right = child(middle, to, &Node::lower);
    nodes_[number].left = left;
    nodes_[number].right = right;
  }
  open_ = std::move(next);
  ++level_;
}

}  // namespace kith::shards::inline v0
