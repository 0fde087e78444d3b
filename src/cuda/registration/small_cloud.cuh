// Building a SmallTree by one block, and the walks over it.
#pragma once

#include "core/arithmetic.hpp"
#include "cuda/primitives/intrinsics.cuh"
#include "cuda/registration/small_cloud.hpp"

#include <cstdint>
#include <limits>

namespace kith::cuda {

/// Two 0 bits behind each of the lower 16.
__device__ __forceinline__ std::uint64_t spread_by_three(std::uint64_t x) {
  x = (x | x << 16) & 0x0000ff0000ffu;
  x = (x | x << 8) & 0x00f00f00f00fu;
  x = (x | x << 4) & 0x0c30c30c30c3u;
  return (x | x << 2) & 0x249249249249u;
}

/// A place on a Morton curve in the box, 16 bits per axis, and below it the number of the point. Any order of points
/// gives the same answers.
template <typename T, std::uint32_t kDims>
__device__ std::uint64_t curve_key(const T* row, const T* lower, T scale, std::uint32_t number) {
  constexpr std::uint32_t kMostCell = (1 << 16) - 1;
  std::uint64_t code = 0;
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) {
    const std::uint32_t cell = to_unsigned((row[d] - lower[d]) * scale);
    code |= spread_by_three(cell < kMostCell ? cell : kMostCell) << d;
  }
  return code << 12 | number;
}

/// Ascending, by the whole block. `count` is a power of two.
__device__ inline void sort_keys(std::uint64_t* keys, std::uint32_t count) {
  for (std::uint32_t size = 2; size <= count; size *= 2) {
    for (std::uint32_t step = size / 2; step > 0; step /= 2) {
      for (std::uint32_t i = thread_number(); i < count / 2; i += threads_per_block()) {
        const std::uint32_t first = 2 * i - (i & (step - 1));
        const std::uint64_t a = keys[first];
        const std::uint64_t b = keys[first + step];
        const bool descends = (first & size) != 0;
        if ((a > b) != descends) {
          keys[first] = b;
          keys[first + step] = a;
        }
      }
      sync_block();
    }
  }
}

/// Leaves, numbers and boxes from sorted keys, by the whole block.
template <typename T, std::uint32_t kDims>
__device__ void fill_tree(const SmallTree<T, kDims>& tree, const T* rows, std::uint64_t row_stride,
                          const std::uint64_t* keys) {
  const SmallShape& shape = tree.shape;
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  for (std::uint32_t place = thread_number(); place < shape.places(); place += threads_per_block()) {
    const bool is_point = place < shape.points;
    const auto number = is_point ? static_cast<std::uint16_t>(keys[place] & 0xfff) : kNoSmallPoint;
    tree.numbers[place] = number;
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      tree.leaves[place / kSmallLeaf].values[d][place % kSmallLeaf] =
          is_point ? rows[number * row_stride + d] : std::numeric_limits<T>::quiet_NaN();
    }
  }
  if (thread_number() < kDims) {  // no node, but copied with the others
    for (std::uint32_t side = 0; side < 2; ++side) {
      tree.boxes[0].lower[side][thread_number()] = tree.boxes[0].upper[side][thread_number()] = 0;
    }
  }
  sync_block();
  for (std::uint32_t level = shape.slots; level > 1; level /= 2) {
    for (std::uint32_t i = thread_number(); i < level; i += threads_per_block()) {
      const std::uint32_t node = level + i;
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) {
        T lower = kInfinity, upper = -kInfinity;
        if (level < shape.slots) {
          const SmallBoxes<T, kDims>& below = tree.boxes[node];
          lower = lesser(below.lower[0][d], below.lower[1][d]);
          upper = greater(below.upper[0][d], below.upper[1][d]);
        } else if (i < shape.leaves) {
          for (std::uint32_t j = 0; j < kSmallLeaf && i * kSmallLeaf + j < shape.points; ++j) {
            lower = lesser(lower, tree.leaves[i].values[d][j]);
            upper = greater(upper, tree.leaves[i].values[d][j]);
          }
        }
        tree.boxes[node / 2].lower[node % 2][d] = lower;
        tree.boxes[node / 2].upper[node % 2][d] = upper;
      }
    }
    sync_block();
  }
}

/// The least reduced distance of anything in a box.
template <typename T, std::uint32_t kDims>
__device__ __forceinline__ T reduced_to_side(const T (&query)[kDims], const SmallBoxes<T, kDims>& boxes,
                                             std::uint32_t side) {
  T sum = 0;
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) {
    const T gap = core::larger(core::larger(boxes.lower[side][d] - query[d], query[d] - boxes.upper[side][d]), T(0));
    sum = core::fused_multiply_add(gap, gap, sum);
  }
  return sum;
}

template <typename T, std::uint32_t kDims>
__device__ __forceinline__ T reduced_to_point(const T (&query)[kDims], const SmallLeaf<T, kDims>& leaf,
                                              std::uint32_t i) {
  T sum = 0;
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) {
    const T gap = query[d] - leaf.values[d][i];
    sum = core::fused_multiply_add(gap, gap, sum);
  }
  return sum;
}

/// The nearest point and a bound for all others.
template <typename T>
struct NearestAndNext {
  T reduced;             ///< of the nearest; a bound while there is none
  T next;                ///< no other point has less
  std::uint32_t place;   ///< of the nearest, or kNoPoint
  std::uint32_t number;  ///< of it

  __device__ __forceinline__ void offer(T other, std::uint32_t at, const std::uint16_t* numbers) {
    if (!(other <= next)) return;
    const std::uint32_t its_number = numbers[at];
    if (its_number == number) return;  // the one that the walk began with
    if (other < reduced || (other == reduced && its_number < number)) {
      next = reduced;
      reduced = other;
      place = at;
      number = its_number;
    } else if (other < next) {
      next = other;
    }
  }
};

/// The walk of one thread. Which siblings are still to visit is a bit per level, and their bounds are computed again.
/// `best.next` is finite, so that slots behind the last leaf, which are infinitely far, are not visited.
template <typename T, std::uint32_t kDims>
__device__ void find_nearest_and_next(const SmallTree<T, kDims>& tree, const T (&query)[kDims],
                                      NearestAndNext<T>& best) {
  const std::uint32_t slots = tree.shape.slots;
  std::uint32_t node = 1, trail = 0;
  while (true) {
    bool goes_on = true;
    while (node < slots) {
      const SmallBoxes<T, kDims> boxes = tree.boxes[node];
      const T to_left = reduced_to_side<T, kDims>(query, boxes, 0);
      const T to_right = reduced_to_side<T, kDims>(query, boxes, 1);
      const bool goes_left = to_left <= to_right;
      goes_on = (goes_left ? to_left : to_right) <= best.next;
      if (!goes_on) break;
      node = 2 * node + (goes_left ? 0 : 1);
      trail = 2 * trail + ((goes_left ? to_right : to_left) <= best.next ? 1 : 0);
    }
    if (goes_on) {
      const std::uint32_t leaf = node - slots;
      const SmallLeaf<T, kDims> points = tree.leaves[leaf];
#pragma unroll
      for (std::uint32_t i = 0; i < kSmallLeaf; ++i) {
        best.offer(reduced_to_point<T, kDims>(query, points, i), leaf * kSmallLeaf + i, tree.numbers);
      }
    }
    do {
      if (trail == 0) return;
      const std::uint32_t levels = lowest_bit(trail);
      node = (node >> levels) ^ 1;
      trail = (trail >> levels) ^ 1;
    } while (!(reduced_to_side<T, kDims>(query, tree.boxes[node / 2], node % 2) <= best.next));
  }
}

}  // namespace kith::cuda
