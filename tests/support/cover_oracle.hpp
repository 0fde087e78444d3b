// The cover tree straight from its definition: every distance measured, nothing skipped, one object after the other.
#pragma once

#include "core/cover_geometry.hpp"
#include "engine/cover_tree/cover_tree.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

namespace kith::test {

class CoverOracle {
 public:
  using Metric = std::function<double(std::uint32_t, std::uint32_t)>;

  /// `most`: distances above it are not told apart (2^62 for f32, 2^510 for f64).
  CoverOracle(std::uint32_t count, std::uint32_t leaf_size, core::CoverRounding rounding, double most, Metric metric)
      : count_(count), leaf_size_(leaf_size), rounding_(rounding), most_(most), metric_(std::move(metric)) {}

  engine::CoverTree build() {
    if (count_ == 0) return result();
    start();
    if (cells_[0].largest <= most_) {
      for (;;) {
        close_cells();
        double largest = 0;
        for (const Cell& cell : cells_) {
          if (cell.open) largest = std::max(largest, cell.largest);
        }
        if (largest == 0) break;
        split_at(core::cover_level_below(largest));
      }
    }
    finish();
    return result();
  }

 private:
  struct Cell {
    std::uint32_t centre = 0;
    std::uint32_t node = 0;
    bool open = true;
    double largest = 0;
    std::vector<std::uint32_t> objects;
  };
  struct Storage {
    std::vector<engine::CoverNode> nodes;
    std::vector<std::uint32_t> order;
    std::vector<double> distances;
  };

  static bool ranks_before(std::uint32_t a, std::uint32_t b) { return core::cover_rank(a) < core::cover_rank(b); }

  void start() {
    std::uint32_t centre = 0;
    for (std::uint32_t i = 1; i < count_; ++i) {
      if (ranks_before(i, centre)) centre = i;
    }
    owner_.assign(count_, 0);
    distance_.resize(count_);
    for (std::uint32_t i = 0; i < count_; ++i) distance_[i] = i == centre ? 0 : metric_(centre, i);
    cells_.assign(1, {centre, 0, true, 0, {}});
    gather();
    engine::CoverNode root;
    root.centre = centre;
    const double largest = cells_[0].largest;
    root.level = largest > 0 && std::isfinite(largest) ? core::cover_level_below(largest) + 1 : 0;
    storage_->nodes.push_back(root);
  }

  /// The objects of every cell, from their owners.
  void gather() {
    for (Cell& cell : cells_) {
      cell.objects.clear();
      cell.largest = 0;
    }
    for (std::uint32_t i = 0; i < count_; ++i) {
      Cell& cell = cells_[owner_[i]];
      cell.objects.push_back(i);
      cell.largest = std::max(cell.largest, distance_[i]);
    }
  }

  void close_cells() {
    for (Cell& cell : cells_) {
      if (cell.objects.size() <= leaf_size_ || cell.largest <= 64 * rounding_.absolute) cell.open = false;
    }
  }

  bool pays(const Cell& cell, double radius) {
    std::vector<std::uint32_t> sample = cell.objects;
    std::sort(sample.begin(), sample.end(), ranks_before);
    const auto objects = static_cast<std::uint32_t>(sample.size());
    sample.resize(std::min(objects, core::cover_sample(objects)));
    std::uint64_t close = 0;
    for (std::size_t a = 0; a < sample.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) close += metric_(sample[a], sample[b]) <= radius;
    }
    return core::cover_split_pays(objects, static_cast<std::uint32_t>(sample.size()), close);
  }

  void split_at(std::int32_t level) {
    const double radius = core::cover_radius(level);
    std::vector<std::uint32_t> candidates;
    for (Cell& cell : cells_) {
      if (!cell.open || cell.largest <= radius) continue;
      cell.open = pays(cell, radius);
      for (const std::uint32_t i : cell.objects) {
        if (cell.open && distance_[i] > radius) candidates.push_back(i);
      }
    }
    std::sort(candidates.begin(), candidates.end(), ranks_before);
    std::vector<std::uint32_t> centres;
    for (const std::uint32_t i : candidates) {
      bool is_covered = false;
      for (const std::uint32_t c : centres) is_covered |= metric_(c, i) <= radius;
      if (!is_covered) centres.push_back(i);
    }
    std::sort(centres.begin(), centres.end());
    add_nodes(level, centres);
    move_objects(centres);
    gather();
  }

  /// Cells of the new centres come last in `cells_`, by the number of the centre; nodes by parent.
  void add_nodes(std::int32_t level, const std::vector<std::uint32_t>& centres) {
    const std::size_t before = cells_.size();
    for (const std::uint32_t c : centres) cells_.push_back({c, 0, true, 0, {}});
    std::vector<std::size_t> by_node(before);
    for (std::size_t cell = 0; cell < before; ++cell) by_node[cell] = cell;
    std::sort(by_node.begin(), by_node.end(), [&](auto a, auto b) { return cells_[a].node < cells_[b].node; });
    auto& nodes = storage_->nodes;
    for (const std::size_t cell : by_node) {
      const std::uint32_t parent = cells_[cell].node;
      const auto add = [&](std::size_t of, double to_parent) {
        engine::CoverNode node;
        node.centre = cells_[of].centre;
        node.parent = parent;
        node.level = level;
        node.to_parent = to_parent;
        cells_[of].node = static_cast<std::uint32_t>(nodes.size());
        nodes.push_back(node);
        ++nodes[parent].children;
      };
      for (std::size_t c = 0; c < centres.size(); ++c) {
        if (owner_[centres[c]] != cell) continue;
        if (nodes[parent].children == 0) {
          nodes[parent].first_child = static_cast<std::uint32_t>(nodes.size());
          add(cell, 0);
        }
        add(before + c, distance_[centres[c]]);
      }
    }
  }

  void move_objects(const std::vector<std::uint32_t>& centres) {
    const std::size_t before = cells_.size() - centres.size();
    std::vector<std::size_t> owners = owner_;
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (!cells_[owner_[i]].open) continue;
      for (std::size_t c = 0; c < centres.size(); ++c) {
        const double distance = centres[c] == i ? 0 : metric_(centres[c], i);
        if (centres[c] == i || distance < distance_[i]) {
          distance_[i] = distance;
          owners[i] = before + c;
        }
      }
    }
    owner_ = owners;
  }

  void finish() {
    auto& nodes = storage_->nodes;
    std::vector<const Cell*> cell_of(nodes.size(), nullptr);
    for (const Cell& cell : cells_) cell_of[cell.node] = &cell;
    place(0, cell_of);
  }

  void place(std::uint32_t at, const std::vector<const Cell*>& cell_of) {
    Storage& to = *storage_;
    engine::CoverNode& node = to.nodes[at];
    node.first = static_cast<std::uint32_t>(to.order.size());
    if (node.is_leaf()) {
      std::vector<std::uint32_t> objects = cell_of[at]->objects;
      std::sort(objects.begin(), objects.end(),
                [&](auto a, auto b) { return distance_[a] != distance_[b] ? distance_[a] < distance_[b] : a < b; });
      for (const std::uint32_t i : objects) {
        to.order.push_back(i);
        to.distances.push_back(distance_[i]);
      }
    }
    for (std::uint32_t c = 0; c < node.children; ++c) place(node.first_child + c, cell_of);
    node.count = static_cast<std::uint32_t>(to.order.size()) - node.first;
    node.lowest = std::numeric_limits<std::uint32_t>::max();
    for (std::uint32_t i = node.first; i < to.order.size(); ++i) {
      const std::uint32_t object = to.order[i];
      node.lowest = std::min(node.lowest, object);
      node.reach = std::max(node.reach, object == node.centre ? 0 : metric_(node.centre, object));
    }
  }

  engine::CoverTree result() const {
    return {leaf_size_, engine::CoverSeparation::global, storage_->nodes, storage_->order, storage_->distances,
            storage_};
  }

  std::uint32_t count_;
  std::uint32_t leaf_size_;
  core::CoverRounding rounding_;
  double most_;
  Metric metric_;
  std::vector<std::size_t> owner_;  ///< a cell
  std::vector<double> distance_;    ///< from its centre
  std::vector<Cell> cells_;
  std::shared_ptr<Storage> storage_ = std::make_shared<Storage>();
};

}  // namespace kith::test
