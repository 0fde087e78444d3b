// Checks a balanced tree with one node per point, by its promises and not by building it again: the right points, every
// node reached once along the ranges of a balanced tree, dimensions by the rule, every point on the right side of every
// node above it. Safe whatever the arrays hold: each kernel relies only on what those before it found right.
#pragma once

#include "cuda/ordered_tree/begin_level.cuh"
#include "cuda/ordered_tree/link_nodes.cuh"

#include <bit>
#include <cstdint>

namespace kith::cuda {

template <typename T>
struct OrderCheck {
  OrderTask<T> task;
  std::uint64_t rows = 0;  ///< of the caller, those that are not taken included
  ClaimedNodes<T> claimed;
  std::uint32_t* node_at = nullptr;  ///< [place]: the node of a table; null: the place itself
  std::uint32_t* wanted = nullptr;   ///< a bit per row: those that are taken; null: all
  std::uint32_t* seen = nullptr;     ///< a bit per row, all 0
  T* boxes = nullptr;                ///< [lower, upper][dimension][place]; null if dimensions take turns
  std::uint32_t* wrong = nullptr;    ///< becomes 1

  __device__ std::uint32_t node(std::uint32_t place) const { return node_at == nullptr ? place : node_at[place]; }
  __device__ std::uint32_t row_at(std::uint32_t place) const { return claimed.point[node(place)]; }
  __device__ T coordinate(std::uint32_t row, std::uint32_t d) const { return task.rows[row * task.row_stride + d]; }
  __device__ T& box(std::uint32_t side, std::uint32_t d, std::uint32_t place) const {
    return boxes[(std::uint64_t{side} * task.dims + d) * task.count + place];
  }
  __device__ void refuse() const { *wrong = 1; }
};

/// Calls work(i) for each i below count.
template <typename Work>
__device__ void for_each_place(std::uint64_t count, Work&& work) {
  for (std::uint64_t i = std::uint64_t{block_number()} * kOrderThreads + thread_number(); i < count;
       i += std::uint64_t{blocks_in_grid()} * kOrderThreads) {
    work(static_cast<std::uint32_t>(i));
  }
}

/// The range of node `number` of a level, counted from the left; empty ones have first == last.
struct LevelRange {
  std::uint32_t first, last;

  __device__ LevelRange(std::uint32_t level, std::uint32_t number, std::uint32_t count, bool takes_left)
      : first(0), last(count) {
    for (std::uint32_t bit = level; bit-- > 0 && first < last;) {
      const std::uint32_t middle = middle_of(first, last, takes_left);
      ((number >> bit & 1) != 0 ? first : last) = (number >> bit & 1) != 0 ? middle + 1 : middle;
    }
  }
};

template <typename T>
__global__ void __launch_bounds__(kOrderThreads) note_wanted(OrderCheck<T> check) {
  for_each_place(check.task.count, [&](std::uint32_t i) {
    const std::uint32_t row = check.task.numbers[i];
    atomic_or(&check.wanted[row / 32], 1u << row % 32);
  });
}

/// A thread per node of a level of a table, after those of the level above: where the nodes of its children are.
template <typename T>
__global__ void __launch_bounds__(kOrderThreads) follow_links(OrderCheck<T> check, std::uint32_t level) {
  constexpr std::uint32_t kNone = 0xffffffff;
  const std::uint32_t count = check.task.count;
  const bool takes_left = check.task.takes_left;
  for_each_place(std::uint64_t{1} << level, [&](std::uint32_t number) {
    const LevelRange range(level, number, count, takes_left);
    if (range.first >= range.last) return;
    const std::uint32_t middle = middle_of(range.first, range.last, takes_left);
    const std::uint32_t node = level == 0 ? check.claimed.root : check.node_at[middle];
    if (level == 0) check.node_at[middle] = node;
    const auto follow = [&](std::uint32_t child, std::uint32_t first, std::uint32_t last) {
      if (first == last) {
        if (child != kNone) check.refuse();
        return;
      }
      if (child >= count) check.refuse();
      check.node_at[middle_of(first, last, takes_left)] = child < count ? child : 0;
    };
    follow(check.claimed.less[node], range.first, middle);
    follow(check.claimed.greater[node], middle + 1, range.last);
  });
}

/// A thread per place: its point is taken, and at no other place, with the coordinates that are claimed. Every node of
/// a table is then reached once, because a point is.
template <typename T>
__global__ void __launch_bounds__(kOrderThreads) check_points(OrderCheck<T> check) {
  for_each_place(check.task.count, [&](std::uint32_t place) {
    const std::uint32_t row = check.row_at(place);
    const bool is_taken =
        row < check.rows && (check.wanted == nullptr || (check.wanted[row / 32] >> row % 32 & 1) != 0);
    if (!is_taken || (atomic_or(&check.seen[row / 32], 1u << row % 32) >> row % 32 & 1) != 0) {
      check.refuse();
      return;
    }
    if (check.claimed.rows == nullptr) return;
    for (std::uint32_t d = 0; d < check.task.dims; ++d) {
      const T here = check.claimed.rows[std::uint64_t{place} * check.task.dims + d];
      if (std::bit_cast<OrderedKey<T>>(here) != std::bit_cast<OrderedKey<T>>(check.coordinate(row, d))) check.refuse();
    }
  });
}

/// A thread per node of a level, after those of the level below: its box, and the dimension that it splits.
template <typename T>
__global__ void __launch_bounds__(kOrderThreads) check_dimensions(OrderCheck<T> check, std::uint32_t level) {
  const std::uint32_t dims = check.task.dims;
  const bool takes_left = check.task.takes_left;
  for_each_place(std::uint64_t{1} << level, [&](std::uint32_t number) {
    const LevelRange range(level, number, check.task.count, takes_left);
    if (range.first >= range.last) return;
    const std::uint32_t middle = middle_of(range.first, range.last, takes_left);
    std::uint32_t expected = level % dims;
    if (!check.task.cycles) {
      const std::uint32_t row = check.row_at(middle);
      for (std::uint32_t d = 0; d < dims; ++d) {
        T lower = check.coordinate(row, d), upper = lower;
        const auto join = [&](std::uint32_t first, std::uint32_t last) {
          if (first == last) return;
          const std::uint32_t child = middle_of(first, last, takes_left);
          lower = lesser(lower, check.box(0, d, child));
          upper = greater(upper, check.box(1, d, child));
        };
        join(range.first, middle);
        join(middle + 1, range.last);
        check.box(0, d, middle) = lower;
        check.box(1, d, middle) = upper;
      }
      expected = widest_side<T>(
          dims, [&](std::uint32_t d) { return check.box(0, d, middle); },
          [&](std::uint32_t d) { return check.box(1, d, middle); });
    }
    if (check.claimed.split_dim[check.node(middle)] != expected) check.refuse();
  });
}

/// A thread per place: it lies on the right side of every node above it.
template <typename T>
__global__ void __launch_bounds__(kOrderThreads) check_sides(OrderCheck<T> check) {
  const std::uint32_t dims = check.task.dims;
  for_each_place(check.task.count, [&](std::uint32_t place) {
    const std::uint32_t row = check.row_at(place);
    std::uint32_t first = 0, last = check.task.count;
    for (;;) {
      const std::uint32_t middle = middle_of(first, last, check.task.takes_left);
      if (middle == place) return;
      const std::uint32_t other = check.row_at(middle), dim = check.claimed.split_dim[check.node(middle)];
      bool precedes = row < other;
      for (std::uint32_t c = 0; c < dims; ++c) {
        const std::uint32_t axis = dim + c < dims ? dim + c : dim + c - dims;
        const T x = check.coordinate(row, axis), y = check.coordinate(other, axis);
        if (x == y) continue;
        precedes = x < y;
        break;
      }
      if (precedes != (place < middle)) check.refuse();
      (place < middle ? last : first) = place < middle ? middle : middle + 1;
    }
  });
}

}  // namespace kith::cuda
