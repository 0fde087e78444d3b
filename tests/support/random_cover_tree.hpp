// Trees over any objects with right ranges, distances and reaches, and nothing else right: what a search relies on.
#pragma once

#include "engine/cover_tree/cover_tree.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace kith::test {

/// `metric(i, j)` is the distance as a double. Objects fall to any of a few children, near or not.
template <typename Metric>
engine::CoverTree random_cover_tree(std::uint32_t objects, std::uint32_t leaf_size, Metric&& metric,
                                    std::mt19937_64& random) {
  struct Arrays {
    std::vector<engine::CoverNode> nodes;
    std::vector<std::uint32_t> order;
    std::vector<double> distances;
  };
  const auto arrays = std::make_shared<Arrays>();
  auto& nodes = arrays->nodes;
  auto& order = arrays->order;
  for (std::uint32_t i = 0; i < objects; ++i) order.push_back(i);
  arrays->distances.resize(objects);
  if (objects > 0) {
    engine::CoverNode root;
    root.centre = static_cast<std::uint32_t>(random() % objects);
    root.count = objects;
    root.level = 100;
    nodes.push_back(root);
  }
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    engine::CoverNode node = nodes[n];
    const auto first = order.begin() + node.first, end = first + node.count;
    node.lowest = *std::min_element(first, end);
    for (auto at = first; at != end; ++at) node.reach = std::max(node.reach, metric(node.centre, *at));
    if (node.count > leaf_size && random() % 8 != 0) {
      std::vector<std::uint32_t> centres = {node.centre};
      for (std::uint64_t more = 1 + random() % 40; more > 0; --more) centres.push_back(first[random() % node.count]);
      std::sort(centres.begin() + 1, centres.end());
      centres.erase(std::unique(centres.begin() + 1, centres.end()), centres.end());
      centres.erase(std::remove(centres.begin() + 1, centres.end(), node.centre), centres.end());
      if (centres.size() > 1) {
        std::vector<std::vector<std::uint32_t>> parts(centres.size());
        const bool by_distance = random() % 4 != 0;
        for (auto at = first; at != end; ++at) {
          std::size_t part = random() % centres.size();
          for (std::size_t c = 0; c < centres.size(); ++c) {
            if (by_distance && metric(centres[c], *at) < metric(centres[part], *at)) part = c;
          }
          for (std::size_t c = 0; c < centres.size(); ++c) part = centres[c] == *at ? c : part;
          parts[part].push_back(*at);
        }
        node.first_child = static_cast<std::uint32_t>(nodes.size());
        node.children = static_cast<std::uint32_t>(centres.size());
        std::uint32_t place = node.first;
        for (std::size_t c = 0; c < centres.size(); ++c) {
          engine::CoverNode child;
          child.centre = centres[c];
          child.parent = n;
          child.to_parent = metric(node.centre, child.centre);
          child.first = place;
          child.count = static_cast<std::uint32_t>(parts[c].size());
          child.level = node.level - 1;
          nodes.push_back(child);
          for (const std::uint32_t object : parts[c]) order[place++] = object;
        }
      }
    }
    if (node.is_leaf()) {
      const auto key = [&](std::uint32_t i) { return std::pair(metric(node.centre, i), i); };
      std::sort(first, end, [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
      for (std::uint32_t at = node.first; at < node.first + node.count; ++at) {
        arrays->distances[at] = metric(node.centre, order[at]);
      }
    }
    nodes[n] = node;
  }
  engine::CoverTree tree;
  tree.leaf_size = leaf_size;
  tree.nodes = nodes;
  tree.order = order;
  tree.distances = arrays->distances;
  tree.owner = arrays;
  return tree;
}

}  // namespace kith::test
