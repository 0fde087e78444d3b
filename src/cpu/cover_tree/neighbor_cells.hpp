// Which open cells are near enough to each other for an object of one to become a centre that matters to the other.
#pragma once

#include "cpu/cover_tree/build_state.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace kith::cpu {

/// Lists of open cells by ascending number, each with itself.
///
/// Cells a and b are listed for each other if m(a, b) <= k R + largest(a) + largest(b), where R is the smallest radius
/// of a level that no distance in an open cell exceeds. An object c of a wins an object p of b only if
/// m(c, p) < m(b, p) <= R, so m(a, b) <= largest(a) + largest(b) + R. And if children are listed at R / 2 or below,
/// their parents were: m(a, b) <= k R / 2 + R + largest(a) + largest(b), because children's distances from their
/// centres are at most R / 2. k = 2 would do without rounding.
class NeighborCells {
 public:
  struct Neighbor {
    std::uint32_t cell = 0;
    /// An object that is not farther than this, times R, from the centre of its own cell wins nothing in this one.
    float too_near = 0;
  };

  /// One cell.
  NeighborCells() : lists_{{{0, -1}}} {}

  std::span<const Neighbor> of(std::uint32_t cell) const { return lists_[cell]; }
  /// To compare with `too_near`.
  double in_radii(double distance) const { return distance / radius_; }

  /// From the lists of the level before: `first_child[a]` is where the cells that came out of the cell a begin.
  template <Space S>
  static NeighborCells below(const NeighborCells& above, const std::vector<std::uint32_t>& first_child, const S& space,
                             CoverState<S>& state, double radius, int threads) {
    const auto& cells = state.cells;
    const core::CoverRounding rounding = space.rounding();
    const double radii = (2.25 + 64 * rounding.relative) * radius;
    NeighborCells result;
    result.radius_ = radius;
    auto& lists = result.lists_;  // ascend, because children lie in the order of parents
    lists.assign(cells.size(), {});
    constexpr std::uint32_t kBlock = 16;
    const auto blocks = (cells.size() + kBlock - 1) / kBlock;
    runtime::parallel_for(blocks, {.threads = threads}, [&](std::uint64_t block) {
      typename S::Query query;
      std::vector<typename S::Value> values;
      std::vector<Neighbor> list;
      std::uint64_t evaluations = 0;
      const std::uint64_t end = std::min<std::uint64_t>(cells.size(), (block + 1) * kBlock);
      for (std::uint64_t a = block * kBlock; a < end; ++a) {
        const CoverCell& cell = cells[a];
        if (!cell.open) continue;
        runtime::look_for_stop();
        list.clear();
        space.ask(query, cell.centre);
        for (const Neighbor& near : above.of(cell.parent)) {
          std::uint32_t first = first_child[near.cell], last = first_child[near.cell + 1];
          while (first < last && !cells[first].open) ++first;
          while (first < last && !cells[last - 1].open) --last;
          if (first == last) continue;
          values.resize(last - first);
          state.centres.measure(query, first, last - first, std::numeric_limits<typename S::Value>::max(),
                                values.data());
          evaluations += last - first;
          for (std::uint32_t b = first; b < last; ++b) {
            const double distance = b == a ? 0 : space.metric(values[b - first]);
            if (!cells[b].open || distance > radii + cell.largest + cells[b].largest) continue;
            const double bound = b == a ? -1 : too_near(rounding, distance, cells[b].largest) / radius;
            list.push_back({b, std::nextafter(static_cast<float>(bound), -8.0f)});
          }
        }
        lists[a].assign(list.begin(), list.end());  // exactly as long as it is
      }
      state.work->neighbors.evaluations += evaluations;
    });
    return result;
  }

 private:
  /// An object c of a wins p of b only if m(c, p) < m(b, p) <= largest(b), so m(c, b) < 2 largest(b), and so
  /// m(a, b) - m(a, c) < 2 largest(b). Each distance is rounded; the slack is more than all of it.
  static double too_near(const core::CoverRounding& rounding, double distance, double largest) {
    const double slack = 8 * (rounding.relative * (distance + 2 * largest) + rounding.absolute);
    return distance - 2 * largest - slack;
  }

  double radius_ = 1;  ///< R
  std::vector<std::vector<Neighbor>> lists_;
};

}  // namespace kith::cpu
