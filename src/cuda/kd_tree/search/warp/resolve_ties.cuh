// A list in order but for runs of entries that coarse keys could not tell apart: a warp brings the runs into order.
//
// An entry goes as many places behind the beginning of its run as entries of the run come before it. That takes a few
// instructions for each entry of the longest run; if it is very long, the list is sorted in memory.
#pragma once

#include "cuda/primitives/candidate_warp.cuh"

namespace kith::cuda {

/// A list of up to 256 entries.
template <typename T>
struct CoarseList {
  AnswerEntries<T> stage;     ///< the entries, in any order,
  std::uint32_t found;        ///< and how many they are
  std::uint32_t entries;      ///< how many have a place in the order
  const std::uint8_t* order;  ///< which entry has a place, by its key
  std::uint8_t* exact;        ///< 1 where the key differs from the one before, else 0; becomes the exact order
};

/// As far as the first k entries go.
template <typename T>
__device__ __forceinline__ void resolve_ties(CoarseList<T> list, std::uint32_t k) {
  constexpr std::uint32_t kLongRun = 48;
  const std::uint32_t rows = (list.entries + kWarp - 1) / kWarp;
  std::uint32_t begins = 0;  // of lane i: the places of row i where runs begin
#pragma unroll 1
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::uint32_t place = row * kWarp + lane_number();
    const std::uint32_t of_row = ballot(place >= list.entries || list.exact[place] != 0);
    if (lane_number() == row) begins = of_row;
  }
  sync_warp();
  const std::uint32_t rows_with_begin = ballot(begins != 0), up_to_here = (2u << lane_number()) - 1;
  std::uint32_t last_begin = 0;
#pragma unroll 1
  for (std::uint32_t row = 0; row < rows && (row * kWarp < k || last_begin < k); ++row) {
    const std::uint32_t place = row * kWarp + lane_number(), of_row = shuffle(begins, row);
    const std::uint32_t before = of_row & up_to_here, behind = of_row & ~up_to_here;
    const std::uint32_t rows_behind = rows_with_begin & ~((2u << row) - 1);
    const std::uint32_t next_row = rows_behind == 0 ? rows : lowest_bit(rows_behind);
    std::uint32_t end = list.entries;
    if (next_row < rows) end = next_row * kWarp + lowest_bit(shuffle(begins, next_row));
    if (behind != 0) end = row * kWarp + lowest_bit(behind);
    const std::uint32_t first = before != 0 ? (row + 1) * kWarp - 1 - leading_zeros(before) : last_begin;
    if (of_row != 0) last_begin = (row + 1) * kWarp - 1 - leading_zeros(of_row);
    const std::uint32_t length = place < list.entries && first < k ? end - first : 0, longest = max_of_warp(length);
    if (longest > kLongRun) {
      sort_in_memory(list.stage, list.found);
      for (std::uint32_t i = lane_number(); i < k; i += kWarp) list.exact[i] = static_cast<std::uint8_t>(i);
      return;
    }
    const std::uint8_t own_at = list.order[place];
    const Candidate<T> own = list.stage.at(own_at);
    std::uint32_t rank = first;
#pragma unroll 2
    for (std::uint32_t i = 0; i < longest; ++i) {
      if (i < length && list.stage.at(list.order[first + i]) < own) ++rank;
    }
    if (length > 0) list.exact[rank] = own_at;
  }
}

}  // namespace kith::cuda
