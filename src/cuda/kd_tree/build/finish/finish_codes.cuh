// Subtrees in which every dimension has few values: coordinates are replaced by codes for as long as nodes are split.
//
// The code of a point in dimension d is a number whose order is that of the super-key: the rank of its value in
// dimension d, in the next one, and so on, at last as much of its index as there are bits left. Where codes are equal,
// so are all coordinates, and the index decides. So points that share coordinates are as quickly told apart as others
// are. Before leaves are written, codes become coordinates again.
#pragma once

#include "cuda/kd_tree/build/finish/finish_slots.cuh"
#include "cuda/kd_tree/build/finish/finish_team.cuh"

#include "core/arithmetic.hpp"

#include <bit>

namespace kith::cuda {

/// The part of the range of a dimension in which x lies: monotone, and another one for each of up to kCodedValues
/// values at regular distances. Added to a number this large it is rounded to an integer.
template <typename T>
__device__ __forceinline__ std::uint32_t coded_part(T x, T low, T scale) {
  constexpr T kLarge = sizeof(T) == 4 ? T(1u << 23) : T(std::uint64_t{1} << 52);
  const T sum = core::fused_multiply_add(saturated((x - low) * scale), T(kCodedValues - 1), kLarge);
  return static_cast<std::uint32_t>(std::bit_cast<OrderedKey<T>>(sum)) % kCodedValues;
}

/// Notes the parts of a thread's points, one after the other in a word for each, and which value each part has: one of
/// them, if it has several. The team must synchronise afterwards.
template <typename T, std::uint32_t kRows>
__device__ __forceinline__ void note_parts(const Subtree<T, true>& subtree, const OwnSlots<kRows>& slots,
                                           std::uint32_t d, std::uint32_t (&parts)[kRows]) {
  SubtreeCodes<T>& codes = subtree.codes();
  const T low = codes.low[d], scale = codes.scale[d];
  std::uint32_t used = 0;
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    const T x = subtree.value(slots.at[k], d);
    const std::uint32_t part = coded_part(x, low, scale);
    parts[k] |= part << (kPartBits * d);
    if ((used >> part & 1) == 0) atomic_max(&codes.values[d][part], std::bit_cast<OrderedKey<T>>(x));
    used |= 1u << part;
  }
#pragma unroll
  for (std::uint32_t step = kWarp / 2; step > 0; step /= 2) used |= shuffle_xor(used, step);
  if (lane_number() == 0) atomic_or(&codes.used[d], used);
}

/// Whether a part of a thread's points has another value than one of these. Zeros of both signs are two.
template <typename T, std::uint32_t kRows>
__device__ __forceinline__ bool has_other_values(const Subtree<T, true>& subtree, const OwnSlots<kRows>& slots,
                                                 std::uint32_t d, const std::uint32_t (&parts)[kRows]) {
  using Key = OrderedKey<T>;
  const Key* values = subtree.codes().values[d];
  bool has_other = false;
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    const Key value = values[parts[k] >> (kPartBits * d) & (kCodedValues - 1)];
    has_other = has_other || value != std::bit_cast<Key>(subtree.value(slots.at[k], d));
  }
  return has_other;
}

/// Puts the values of all dimensions in order, without gaps. The block must synchronise afterwards.
template <typename T>
__device__ __forceinline__ void close_ranks(const Subtree<T, true>& subtree) {
  SubtreeCodes<T>& codes = subtree.codes();
#pragma unroll 1
  for (std::uint32_t d = warp_number(); d < subtree.dims; d += threads_per_block() / kWarp) {
    const OrderedKey<T> value = codes.values[d][lane_number()];
    const std::uint32_t used = codes.used[d], own = 1u << lane_number();
    sync_warp();
    if ((used & own) != 0) codes.values[d][count_bits(used & (own - 1))] = value;
  }
}

/// Replaces the coordinates of a thread's points by codes, given the parts of all and the range of their indices.
template <typename T, std::uint32_t kRows>
__device__ __forceinline__ void write_codes(const Subtree<T, true>& subtree, const OwnSlots<kRows>& slots,
                                            const KeyRange<T>& indices, const std::uint32_t (&parts)[kRows]) {
  using Key = OrderedKey<T>;
  const SubtreeCodes<T>& codes = subtree.codes();
  std::uint32_t used[kCodedDims], bits[kCodedDims], all = 0;
#pragma unroll
  for (std::uint32_t d = 0; d < kCodedDims; ++d) {
    used[d] = d < subtree.dims ? codes.used[d] : 1;
    bits[d] = subtree.rank_bits(used[d]);
    all += bits[d];
  }
  const std::uint32_t rest = kCodeBits - all;
  const std::uint32_t index_bits = 8 * sizeof(Key) - leading_zeros(static_cast<Key>(indices.high - indices.low));
  const std::uint32_t shift = index_bits > rest ? index_bits - rest : 0;
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    std::uint32_t ranks = 0;
#pragma unroll
    for (std::uint32_t d = 0; d < kCodedDims; ++d) {
      if (d >= subtree.dims) break;
      const std::uint32_t before = (1u << (parts[k] >> (kPartBits * d) & (kCodedValues - 1))) - 1;
      ranks = ranks << bits[d] | count_bits(used[d] & before);
    }
    const auto index = static_cast<std::uint32_t>((subtree.index_key(slots.at[k]) - indices.low) >> shift);
    std::uint32_t before = 0;  // bits of the dimensions before d
#pragma unroll
    for (std::uint32_t d = 0; d < kCodedDims; ++d) {
      if (d >= subtree.dims) break;
      const std::uint32_t turned = (ranks << before | ranks >> (all - before)) & ((1u << all) - 1);
      subtree.values[d * subtree.given.capacity + slots.at[k]] = static_cast<T>(turned << rest | index);
      before += bits[d];
    }
  }
}

/// Replaces the coordinates of all points by codes; false, and nothing is done, if values are many or irregular, or if
/// all points are equal. All threads of the block, which is synchronised before and after.
template <std::uint32_t kRows, typename T>
__device__ __forceinline__ bool write_codes_of_subtree(const Subtree<T, true>& subtree) {
  const Team team(0);
  const OwnSlots<kRows> slots = only_points(load_slots<kRows>(subtree, subtree.node(0, 0), team.rank, team.bits));
  SubtreeCodes<T>& codes = subtree.codes();
  for (std::uint32_t i = thread_number(); i < kCodedDims * kCodedValues; i += threads_per_block()) {
    codes.values[i / kCodedValues][i % kCodedValues] = 0;
    if (i < kCodedDims) codes.used[i] = 0;
  }
  bool is_point = true;
#pragma unroll 1
  for (std::uint32_t d = 0; d < subtree.dims; ++d) {
    const KeyRange<T> range = range_of_team(subtree, team, range_of_slots(subtree, slots, d), d % 2);
    is_point = is_point && range.low == range.high;
    if (team.rank == 0) {
      codes.low[d] = value_of_key<T>(range.low);
      codes.scale[d] = T(1) / (value_of_key<T>(range.high) - codes.low[d]);
    }
  }
  if (is_point) {
    sync_block();  // ranges are no longer read
    return false;
  }
  OrderedKey<T> keys[kRows];
  load_components(subtree, slots, 0, subtree.dims, keys);
  const KeyRange<T> indices = range_of_team(subtree, team, range_of_keys<T>(keys, (1u << kRows) - 1), subtree.dims % 2);
  sync_warp();  // a team of one warp has no other barrier
  std::uint32_t parts[kRows] = {};
#pragma unroll 1
  for (std::uint32_t d = 0; d < subtree.dims; ++d) note_parts(subtree, slots, d, parts);
  sync_block();
  bool has_other = false;
#pragma unroll 1
  for (std::uint32_t d = 0; d < subtree.dims; ++d) has_other = has_other || has_other_values(subtree, slots, d, parts);
  if (any_thread(has_other)) return false;
  close_ranks(subtree);
  write_codes(subtree, slots, indices, parts);
  sync_block();
  return true;
}

/// Makes coordinates of codes again. All threads of the block, which is synchronised before and must synchronise
/// afterwards.
template <typename T>
__device__ __forceinline__ void restore_coordinates(const Subtree<T, true>& subtree) {
#pragma unroll 1
  for (std::uint32_t d = 0; d < subtree.dims; ++d) {
    T* column = subtree.values + d * subtree.given.capacity;
#pragma unroll 4
    for (std::uint32_t slot = thread_number(); slot < subtree.count; slot += threads_per_block()) {
      column[slot] = subtree.decoded(column[slot], d);
    }
  }
}

}  // namespace kith::cuda
