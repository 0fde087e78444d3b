// Groups of equal rows that lie side by side in sorted order: where each begins, and which of all rows are kept.
#pragma once

#include "cuda/dedupe/row_keys.cuh"

namespace kith::cuda {

/// Whether rows a and b are equal; lanes whose `asks` is false do not matter. All lanes of the warp take part.
template <typename T>
__device__ __forceinline__ bool are_equal(const EqualTask<T>& task, bool asks, std::uint32_t a, std::uint32_t b) {
  if (task.dims <= kMostDimsOfThread) {
    bool are = asks;
    const T *left = task.rows + a * task.row_stride, *right = task.rows + b * task.row_stride;
    for (std::uint32_t d = 0; are && d < task.dims; ++d) are = left[d] == right[d];
    return are;
  }
  bool are = false;
  for (std::uint32_t asking = ballot(asks); asking != 0; asking &= asking - 1) {
    const std::uint32_t lane = lowest_bit(asking);
    const T* left = task.rows + shuffle(a, lane) * task.row_stride;
    const T* right = task.rows + shuffle(b, lane) * task.row_stride;
    bool differ = false;
    for (std::uint32_t first = 0; first < task.dims && !differ; first += kWarp) {
      const std::uint32_t d = first + lane_number();
      differ = any_lane(d < task.dims && left[d] != right[d]);
    }
    if (lane_number() == lane) are = !differ;
  }
  return are;
}

/// A thread per position. firsts[p] (unless null) is 1 where a group begins, and `kept` becomes 0 for the other rows of
/// a group. Rows whose highest `bits` bits of the key are equal are compared; if two in a row differ, there may be
/// equal ones that are not side by side, which `report` says. With 0 bits rows are sorted by coordinates: all are
/// compared. `kept` is 1 for rows that can be used; or, if `is_again`, all are 0, and become 1 where a group begins.
template <typename T>
__global__ void __launch_bounds__(kEqualThreads)
    mark_firsts(const __grid_constant__ EqualTask<T> task, SortPairs pairs, std::uint32_t bits, bool is_again,
                std::uint32_t* firsts, std::uint32_t* kept, EqualReport* report) {
  const std::uint32_t usable = task.count - report->bad;  // these come first
  for_each_of_grid(task.count, [&](std::uint64_t p) {
    bool is_likely = p > 0 && p < usable, is_alike = false;
    if (is_likely && bits > 0) {
      const std::uint64_t difference = pairs.keys[p] ^ pairs.keys[p - 1];
      is_likely = difference == 0;
      is_alike = difference >> (64 - bits) == 0;
    }
    const std::uint32_t row = is_likely || (is_again && p < usable) ? pairs.values[p] : 0;
    const bool is_copy = are_equal(task, is_likely, row, is_likely ? pairs.values[p - 1] : 0);
    if (is_copy || (is_again && p < usable)) kept[row] = is_copy ? 0 : 1;
    if (is_alike && !is_copy) atomic_or(&report->mixed, 1u);
    if (firsts != nullptr && p < task.count) firsts[p] = p < usable && !is_copy ? 1 : 0;
  });
}

/// A thread per row: `numbers` are those of kept rows, `numbers[count]` is how many there are. The map gets the entries
/// of kept rows; others are as those of rows that cannot be used.
__global__ void __launch_bounds__(kEqualThreads)
    write_kept(const std::uint32_t* numbers, std::uint32_t count, std::uint32_t* kept, std::uint32_t* map,
               EqualReport* report) {
  for_each_of_grid(count, [&](std::uint64_t i) {
    if (i >= count) return;
    const std::uint32_t number = numbers[i];
    const bool is_kept = numbers[i + 1] != number;
    if (is_kept) kept[number] = static_cast<std::uint32_t>(i);
    if (map != nullptr) map[i] = is_kept ? number : 0xffffffffu;
    if (i == 0) report->kept = numbers[count];
  });
}

/// A thread per position: the first row of each group. `groups[p]` is how many groups begin before p.
__global__ void __launch_bounds__(kEqualThreads)
    write_first_rows(const std::uint32_t* groups, std::uint32_t count, const std::uint32_t* rows,
                     std::uint32_t* first_rows) {
  for_each_of_grid(count, [&](std::uint64_t p) {
    if (p < count && groups[p + 1] != groups[p]) first_rows[groups[p]] = rows[p];
  });
}

/// A thread per position: the map of rows that are not the first of their group.
__global__ void __launch_bounds__(kEqualThreads)
    map_copies(const std::uint32_t* groups, std::uint32_t count, const std::uint32_t* rows,
               const std::uint32_t* first_rows, const std::uint32_t* numbers, const EqualReport* report,
               std::uint32_t* map) {
  const std::uint32_t usable = count - report->bad;
  for_each_of_grid(count, [&](std::uint64_t p) {
    if (p < usable && groups[p + 1] == groups[p]) map[rows[p]] = numbers[first_rows[groups[p] - 1]];
  });
}

}  // namespace kith::cuda
