// Moves records that belong to the left to the front, without a branch on the data.
#pragma once

#include "runtime/progress_meter.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace kith::split {

inline constexpr std::ptrdiff_t kPartitionBlock = 64;
/// In a pass over many records a stop is looked for after so many: some milliseconds.
inline constexpr std::ptrdiff_t kRecordsPerLook = 1 << 19;

/// Up to 2 * kPartitionBlock records: the left ones close up in place, the right ones wait in a buffer.
template <typename Record, typename IsLeft>
Record* partition_few(Record* first, Record* last, const IsLeft& is_left) {
  Record waiting[2 * kPartitionBlock];
  Record* left = first;
  Record* right = waiting;
  for (const Record* i = first; i != last; ++i) {
    const bool goes_left = is_left(*i);
    const Record record = *i;
    *left = record;
    *right = record;
    left += goes_left ? 1 : 0;
    right += goes_left ? 0 : 1;
  }
  std::copy(waiting, right, left);
  return left;
}

/// Any number of records. Returns the first of the right ones. Blocks from both ends: first it is noted which records
/// of a block are on the wrong side, then they change places in pairs.
template <typename Record, typename IsLeft>
Record* partition_records(Record* first, Record* last, const IsLeft& is_left) {
  std::uint8_t wrong_left[kPartitionBlock], wrong_right[kPartitionBlock];  // places counted from the two ends
  std::size_t lefts = 0, rights = 0;                                       // how many are noted and not yet moved
  std::size_t left_from = 0, right_from = 0;
  for (std::uint32_t rounds = 1; last - first > 2 * kPartitionBlock; ++rounds) {
    if (rounds % (kRecordsPerLook / kPartitionBlock) == 0) runtime::look_for_stop();
    if (lefts == 0) {
      left_from = 0;
      for (std::ptrdiff_t i = 0; i < kPartitionBlock; ++i) {
        wrong_left[lefts] = static_cast<std::uint8_t>(i);
        lefts += is_left(first[i]) ? 0 : 1;
      }
    }
    if (rights == 0) {
      right_from = 0;
      for (std::ptrdiff_t i = 0; i < kPartitionBlock; ++i) {
        wrong_right[rights] = static_cast<std::uint8_t>(i);
        rights += is_left(last[-1 - i]) ? 1 : 0;
      }
    }
    const std::size_t pairs = std::min(lefts, rights);
    for (std::size_t p = 0; p < pairs; ++p) {
      std::swap(first[wrong_left[left_from + p]], last[-1 - std::ptrdiff_t{wrong_right[right_from + p]}]);
    }
    lefts -= pairs;
    rights -= pairs;
    left_from += pairs;
    right_from += pairs;
    if (lefts == 0) first += kPartitionBlock;
    if (rights == 0) last -= kPartitionBlock;
  }
  return partition_few(first, last, is_left);
}

}  // namespace kith::split
