// The threads that work on one node together, a block or a warp, and what they share.
#pragma once

#include "cuda/kd_tree/build/builders/levels/level_task.hpp"
#include "cuda/kd_tree/build/super_key.cuh"
#include "cuda/kd_tree/build/team.cuh"
#include "cuda/primitives/intrinsics.cuh"

namespace kith::cuda {

/// In shared memory, one for each warp; a block uses the first.
template <typename T>
struct CrewCells {
  OrderedKey<T> not_low, high;  ///< the complement of the least key, and the greatest
  std::uint32_t moved[2];       ///< to the left, to the right
  std::uint32_t listed;
  std::uint32_t digit, below, inside;
  std::uint32_t pivot;
};

template <bool kIsBlock>
struct Crew {
  std::uint32_t rank = kIsBlock ? thread_number() : lane_number();
  std::uint32_t threads = kIsBlock ? threads_per_block() : kWarp;

  __device__ __forceinline__ void sync() const {
    if constexpr (kIsBlock) {
      sync_block();
    } else {
      sync_warp();
    }
  }
  /// The warp that does what one warp can do.
  __device__ __forceinline__ bool is_first_warp() const { return !kIsBlock || warp_number() == 0; }
};

/// Lanes before this one that are in a ballot.
__device__ __forceinline__ std::uint32_t lanes_before(std::uint32_t votes) {
  return count_bits(votes & ((1u << lane_number()) - 1));
}

struct FoundDigit {
  std::uint32_t digit, below, inside;
};

/// The digit in whose bucket a rank lies; `digits` is a multiple of 32. The work of one warp.
__device__ __forceinline__ FoundDigit find_digit(const std::uint32_t* counts, std::uint32_t digits,
                                                 std::uint32_t rank) {
  const std::uint32_t each = digits / kWarp;
  std::uint32_t sum = 0;
#pragma unroll 8
  for (std::uint32_t k = 0; k < each; ++k) sum += counts[lane_number() * each + k];
  const std::uint32_t through = sum_to_lane(sum), lane = count_bits(ballot(through <= rank));
  std::uint32_t below = shuffle(through - sum, lane);
  for (std::uint32_t first = 0;; first += kWarp) {  // among those of that lane
    const std::uint32_t k = first + lane_number(), own = k < each ? counts[lane * each + k] : 0;
    const std::uint32_t to_here = below + sum_to_lane(own), found = count_bits(ballot(to_here <= rank));
    if (found < kWarp) return {lane * each + first + found, shuffle(to_here - own, found), shuffle(own, found)};
    below = shuffle(to_here, kWarp - 1);
  }
}

/// The dimension of the widest side of a box, ties to the lowest. The work of a warp.
template <typename T>
__device__ __forceinline__ std::uint32_t widest_side(const T* box, std::uint32_t dims) {
  T extent = T(-1);
  std::uint32_t widest = dims;
  for (std::uint32_t d = lane_number(); d < dims; d += kWarp) {
    const T own = box[dims + d] - box[d];
    if (own > extent) {
      extent = own;
      widest = d;
    }
  }
  for (std::uint32_t step = kWarp / 2; step > 0; step /= 2) {
    const T other = shuffle_xor(extent, step);
    const std::uint32_t other_widest = shuffle_xor(widest, step);
    if (other > extent || (other == extent && other_widest < widest)) {
      extent = other;
      widest = other_widest;
    }
  }
  return widest;
}

/// Writes the split of a node, and the boxes of its children if they split by them.
template <bool kIsBlock, typename T>
__device__ void write_split(const LevelTask<T>& task, const Crew<kIsBlock>& crew, std::uint32_t level, std::uint64_t j,
                            std::uint32_t dim, T split_value) {
  const std::uint32_t dims = task.shape.dims, next = level + 1;
  if (crew.rank == 0) {
    const std::uint64_t node = core::KdGeometry::node(level, j);
    task.tree.split_dims[node] = static_cast<std::uint16_t>(dim);
    task.tree.split_values[node] = split_value;
  }
  if (next == task.shape.geometry.levels || next % core::kTightBoxEvery == 0) return;
  const T* box = task.box(level, j);
  T *left = task.box(next, 2 * j), *right = left + 2 * dims;
  for (std::uint32_t i = crew.rank; i < 2 * dims; i += crew.threads) {
    left[i] = i == dims + dim ? split_value : box[i];
    right[i] = i == dim ? split_value : box[i];
  }
}

/// Moves points to both sides of a pivot: `rank` of them to the front. Reads from[i], asks is_left(i, from[i]), uses
/// to[i]; the result is in `from`. The crew has synchronised before, and has afterwards.
template <bool kIsBlock, typename T, typename IsLeft>
__device__ __forceinline__ void partition_by_crew(const Crew<kIsBlock>& crew, CrewCells<T>& cells, std::uint32_t* from,
                                                  std::uint32_t* to, std::uint32_t count, std::uint32_t rank,
                                                  IsLeft&& is_left) {
  if (crew.rank < 2) cells.moved[crew.rank] = crew.rank == 0 ? 0 : rank;
  crew.sync();
  for (std::uint32_t first = 0; first < count; first += crew.threads) {
    const std::uint32_t i = first + crew.rank;
    const bool is_point = i < count;
    const std::uint32_t number = is_point ? from[i] : 0;
    const bool goes_left = is_point && is_left(i, number);
    const std::uint32_t lefts = ballot(goes_left), rights = ballot(is_point && !goes_left);
    const std::uint32_t base =
        lane_number() < 2 ? atomic_add(&cells.moved[lane_number()], count_bits(lane_number() == 0 ? lefts : rights))
                          : 0;
    const std::uint32_t left = shuffle(base, 0), right = shuffle(base, 1);
    if (is_point) to[goes_left ? left + lanes_before(lefts) : right + lanes_before(rights)] = number;
  }
  crew.sync();
  for (std::uint32_t i = crew.rank; i < count; i += crew.threads) from[i] = to[i];
  crew.sync();
}

}  // namespace kith::cuda
