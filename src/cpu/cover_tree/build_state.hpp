// What the builder of the cover tree knows between two levels: the open cells, and their objects side by side.
#pragma once

#include "cpu/cover_tree/space.hpp"
#include "engine/cover_tree/cover_tree.hpp"

#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace kith::cpu {

inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// Distances above it are not told apart by a Value, which may be squared.
template <typename Value>
inline constexpr double kFarthestTold = std::is_same_v<Value, float> ? 0x1p62 : 0x1p510;

/// The objects of one centre: positions first .. first + count, the farthest first where there are rows.
struct CoverCell {
  std::uint32_t centre = 0;
  std::uint32_t node = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t parent = 0;  ///< the cell of the level before that it was, or came out of
  double to_parent = 0;      ///< from that one's centre
  double largest = 0;        ///< distance of an object
  bool open = true;
};

/// Cells that have become leaves, with their objects in any order.
struct CoverLeaves {
  struct Leaf {
    std::uint32_t node = 0;
    std::uint32_t count = 0;
    std::uint64_t first = 0;
  };
  std::vector<Leaf> leaves;
  std::vector<std::uint32_t> objects;
  std::vector<double> distances;
};

/// What the phases of a build cost.
struct CoverPhase {
  std::atomic<std::uint64_t> evaluations{0};
  double milliseconds = 0;
};
struct CoverWork {
  CoverPhase root;       ///< all objects from the root
  CoverPhase tests;      ///< whether splits pay
  CoverPhase centres;    ///< new centres from each other and from old ones
  CoverPhase objects;    ///< objects from new centres
  CoverPhase regroup;    ///< objects side by side again; nothing is measured
  CoverPhase neighbors;  ///< centres of cells from each other
  CoverPhase reach;      ///< order of objects; centres of nodes from their farthest objects

  std::uint64_t evaluations() const {
    return root.evaluations + tests.evaluations + centres.evaluations + objects.evaluations + neighbors.evaluations +
           reach.evaluations;
  }
};

/// Objects of open cells by position: cell after cell. `values` and `distances` are from the centre of the cell.
template <Space S>
struct CoverState {
  using Value = typename S::Value;

  CoverState(const S& space, CoverWork& of)
      : rows(space.arrange({}, 1)), centres(space.arrange({}, 1)), work(&of), by_few(prefers_few(space)) {}

  std::vector<CoverCell> cells;
  std::vector<std::uint32_t> numbers;
  std::vector<std::uint32_t> cell_at;
  std::vector<Value> values;
  std::vector<double> distances;
  std::vector<std::uint32_t> by_rank;  ///< positions by the rank of their object
  typename S::Rows rows;               ///< by position
  typename S::Rows centres;            ///< by cell
  std::vector<engine::CoverNode> nodes;
  CoverLeaves leaves;
  CoverWork* work = nullptr;
  bool by_few = false;  ///< objects are measured where they lie: no rows, and cells by ascending number
};

/// The largest value whose distance is not above `distance`, which is positive.
template <Space S>
typename S::Value value_within(const S& space, double distance) {
  using Value = typename S::Value;
  Value low = 0, high = std::numeric_limits<Value>::max();
  if (space.metric(high) <= distance) return high;
  // Halves exponents first, then fractions: geometric while the two are far apart.
  while (std::nextafter(low, high) < high) {
    const Value from = low < std::numeric_limits<Value>::min() ? std::numeric_limits<Value>::min() : low;
    Value middle = high > 4 * from ? std::sqrt(from) * std::sqrt(high) : low + (high - low) / 2;
    if (!(middle > low && middle < high)) middle = std::nextafter(low, high);
    (space.metric(middle) <= distance ? low : high) = middle;
  }
  return low;
}

/// Not below any value of the same or a smaller distance: square roots join some neighbours.
template <typename Value>
Value value_not_below(Value value) {
  return value + value * (4 * std::numeric_limits<Value>::epsilon());
}

}  // namespace kith::cpu
