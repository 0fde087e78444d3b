// After a level: the cells that are there now, their nodes, and their objects side by side again.
#pragma once

#include "cpu/cover_tree/build_state.hpp"
#include "cpu/cover_tree/choose_centres.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::cpu {

/// Puts cells that need no split any more among the leaves, the others into `state`, children of a cell side by side.
template <Space S>
class Regrouping {
 public:
  using Value = typename S::Value;
  using Centre = typename CentreChoice<S>::Centre;

  Regrouping(const S& space, CoverState<S>& state, std::uint32_t leaf_size, int threads)
      : space_(space), state_(state), leaf_size_(leaf_size), threads_(threads) {}

  /// `owners` are of the choice, kNone: the object stays; without any all stay. Returns for each old cell where its
  /// open children begin.
  std::vector<std::uint32_t> run(const std::vector<Centre>& centres, const std::vector<std::uint32_t>& owners,
                                 std::int32_t level) {
    make_cells(centres);
    make_nodes(level);
    move_objects(owners);
    return keep_open();
  }

 private:
  /// Old cells, each followed by those of the centres that were its objects, by the number of the centre.
  void make_cells(const std::vector<Centre>& centres) {
    std::vector<std::uint32_t> by_cell(centres.size());
    for (std::uint32_t i = 0; i < by_cell.size(); ++i) by_cell[i] = i;
    std::sort(by_cell.begin(), by_cell.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(centres[a].cell, centres[a].number) < std::pair(centres[b].cell, centres[b].number);
    });
    cell_of_centre_.resize(centres.size());
    cells_.reserve(state_.cells.size() + centres.size());
    std::size_t next = 0;
    for (std::uint32_t c = 0; c < state_.cells.size(); ++c) {
      first_child_.push_back(static_cast<std::uint32_t>(cells_.size()));
      const CoverCell& old = state_.cells[c];
      cells_.push_back({.centre = old.centre, .node = old.node, .parent = c, .open = old.open});
      for (; next < by_cell.size() && centres[by_cell[next]].cell == c; ++next) {
        const Centre& centre = centres[by_cell[next]];
        cell_of_centre_[by_cell[next]] = static_cast<std::uint32_t>(cells_.size());
        cells_.push_back({.centre = centre.number, .parent = c, .to_parent = centre.distance});
      }
    }
    first_child_.push_back(static_cast<std::uint32_t>(cells_.size()));
  }

  /// For cells with new centres, by the number of the parent's node.
  void make_nodes(std::int32_t level) {
    std::vector<std::uint32_t> splits;
    for (std::uint32_t c = 0; c < state_.cells.size(); ++c) {
      if (first_child_[c + 1] - first_child_[c] > 1) splits.push_back(c);
    }
    std::sort(splits.begin(), splits.end(),
              [&](std::uint32_t a, std::uint32_t b) { return state_.cells[a].node < state_.cells[b].node; });
    for (const std::uint32_t c : splits) {
      const std::uint32_t parent = state_.cells[c].node;
      state_.nodes[parent].first_child = static_cast<std::uint32_t>(state_.nodes.size());
      state_.nodes[parent].children = first_child_[c + 1] - first_child_[c];
      for (std::uint32_t child = first_child_[c]; child < first_child_[c + 1]; ++child) {
        cells_[child].node = static_cast<std::uint32_t>(state_.nodes.size());
        state_.nodes.push_back(
            {.to_parent = cells_[child].to_parent, .centre = cells_[child].centre, .parent = parent, .level = level});
      }
    }
  }

  void move_objects(const std::vector<std::uint32_t>& owners) {
    const std::size_t objects = state_.numbers.size();
    for (std::size_t at = 0; at < objects; ++at) {
      std::uint32_t& cell = state_.cell_at[at];
      if (owners.empty() || owners[at] == kNone) {
        cell = first_child_[cell];
      } else {
        cell = cell_of_centre_[owners[at]];
        state_.distances[at] = space_.metric(state_.values[at]);
      }
      ++cells_[cell].count;
      cells_[cell].largest = std::max(cells_[cell].largest, state_.distances[at]);
    }
  }

  /// Closed cells leave; positions are given anew.
  std::vector<std::uint32_t> keep_open() {
    const double smallest = 64 * space_.rounding().absolute;
    std::vector<std::uint32_t> kept(cells_.size(), kNone), first_open;
    std::vector<CoverCell> open;
    CoverLeaves& leaves = state_.leaves;
    std::uint64_t leaf_objects = leaves.objects.size();
    std::uint32_t open_objects = 0;
    std::vector<std::uint64_t> next(cells_.size());
    for (std::uint32_t c = 0; c < cells_.size(); ++c) {
      while (first_open.size() <= cells_[c].parent) first_open.push_back(static_cast<std::uint32_t>(open.size()));
      CoverCell& cell = cells_[c];
      if (cell.open && cell.count > leaf_size_ && cell.largest > smallest) {
        cell.first = open_objects;
        next[c] = open_objects;
        open_objects += cell.count;
        kept[c] = static_cast<std::uint32_t>(open.size());
        open.push_back(cell);
      } else {
        leaves.leaves.push_back({.node = cell.node, .count = cell.count, .first = leaf_objects});
        next[c] = leaf_objects;
        leaf_objects += cell.count;
      }
    }
    first_open.push_back(static_cast<std::uint32_t>(open.size()));
    leaves.objects.resize(leaf_objects);
    leaves.distances.resize(leaf_objects);
    place(kept, next, open_objects, open);
    return first_open;
  }

  /// Sorts by distance, the farthest first. Distances of f32 values are f32, whose bits ascend with them.
  struct Key {
    explicit Key(double distance, std::uint32_t at)
        : bits(std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(distance))} << 32 | at) {}
    Key() = default;
    std::uint32_t from() const { return static_cast<std::uint32_t>(bits); }
    bool operator<(const Key& other) const { return bits > other.bits; }
    std::uint64_t bits = 0;
  };
  struct WideKey {
    explicit WideKey(double of, std::uint32_t at) : distance(of), position(at) {}
    WideKey() = default;
    std::uint32_t from() const { return position; }
    bool operator<(const WideKey& other) const { return distance > other.distance; }
    double distance = 0;
    std::uint32_t position = 0;
  };

  void place(const std::vector<std::uint32_t>& kept, std::vector<std::uint64_t>& next, std::uint32_t open_objects,
             std::vector<CoverCell>& open) {
    CoverLeaves& leaves = state_.leaves;
    const std::size_t objects = state_.numbers.size();
    std::vector<std::conditional_t<std::is_same_v<Value, float>, Key, WideKey>> placed(open_objects);
    for (std::uint32_t at = 0; at < objects; ++at) {
      const std::uint32_t cell = state_.cell_at[at];
      const std::uint64_t to = next[cell]++;
      if (kept[cell] == kNone) {
        leaves.objects[to] = state_.numbers[at];
        leaves.distances[to] = state_.distances[at];
      } else {
        placed[to] = std::decay_t<decltype(placed[to])>(state_.distances[at], at);
      }
    }
    state_.cells = std::move(open);
    std::vector<std::uint32_t> now_at(objects, kNone), numbers(open_objects), cell_at(open_objects);
    std::vector<Value> values(open_objects);
    std::vector<double> distances(open_objects);
    runtime::parallel_for(state_.cells.size(), {.threads = threads_}, [&](std::uint64_t c) {
      const CoverCell& cell = state_.cells[c];
      if (!state_.by_few) std::sort(placed.begin() + cell.first, placed.begin() + cell.first + cell.count);
      for (std::uint32_t at = cell.first; at < cell.first + cell.count; ++at) {
        const std::uint32_t from = placed[at].from();
        numbers[at] = state_.numbers[from];
        cell_at[at] = static_cast<std::uint32_t>(c);
        values[at] = state_.values[from];
        distances[at] = state_.distances[from];
        now_at[from] = at;
      }
    });
    state_.numbers.swap(numbers);
    state_.cell_at.swap(cell_at);
    state_.values.swap(values);
    state_.distances.swap(distances);
    std::size_t ranked = 0;
    for (const std::uint32_t at : state_.by_rank) {
      if (now_at[at] != kNone) state_.by_rank[ranked++] = now_at[at];
    }
    state_.by_rank.resize(ranked);
  }

  const S& space_;
  CoverState<S>& state_;
  std::uint32_t leaf_size_;
  int threads_;
  std::vector<CoverCell> cells_;
  std::vector<std::uint32_t> first_child_;     ///< by old cell: in `cells_`
  std::vector<std::uint32_t> cell_of_centre_;  ///< by new centre: in `cells_`
};

}  // namespace kith::cpu
