// The record of a given rank by the super-key, in place: radix select while there are many, quickselect for few.
#pragma once

#include "cpu/kd_tree/builders/quantised.hpp"
#include "cpu/kd_tree/tuning.hpp"
#include "split/split_parallel.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace kith::cpu {

/// Before: any order. After: `middle` has the record that belongs there by the super-key of dimension d, and no record
/// before it comes later. Pivots are coordinates, moved by partitions without branches; the records that are equal in
/// one component go on with the next.
template <typename T, typename Access>
void quickselect(const Access& access, typename Access::Record* first, typename Access::Record* middle,
                 typename Access::Record* last, std::uint32_t d) {
  using Record = typename Access::Record;
  constexpr std::size_t kSamples = 8;
  constexpr int kMostRounds = 64;  // then the library, whose worst case is bounded
  std::uint32_t axis = d, component = 0;
  for (int round = 0; last - first > kFewRecords && component < access.dims() && round < kMostRounds; ++round) {
    const auto count = static_cast<std::size_t>(last - first);
    std::array<T, split::kFewKeys> sample;
    for (std::size_t i = 0; i < kSamples; ++i) sample[i] = access.at(first[(2 * i + 1) * count / (2 * kSamples)], axis);
    const std::size_t place = static_cast<std::size_t>(middle - first) * kSamples / count;
    const T pivot = split::select_few(sample.data(), kSamples, place, place).first;
    Record* right = split::partition_below(access, first, last, axis, pivot);
    if (middle < right) {
      last = right;
      continue;
    }
    first = split::partition_up_to(access, right, last, axis, pivot);
    if (middle >= first) continue;
    last = first;  // all equal to the pivot
    first = right;
    axis = axis + 1 == access.dims() ? 0 : axis + 1;
    ++component;
  }
  std::nth_element(first, middle, last,
                   [&](const Record& a, const Record& b) { return split::precedes(access, a, b, d); });
}

/// As quickselect. `box` holds the records: digits are counted from its lower end. Each digit takes a pass that counts
/// and, if it tells the records apart, one that moves those of other buckets out of the way.
template <typename T, typename Access>
void select_record(const Access& access, typename Access::Record* first, typename Access::Record* middle,
                   typename Access::Record* last, std::uint32_t d, const T* box, int threads) {
  using Record = typename Access::Record;
  const std::uint32_t dims = access.dims();
  std::vector<std::uint32_t> counts;
  for (std::uint32_t component = 0; component < dims; ++component) {
    const std::uint32_t axis = (d + component) % dims;
    const OrderedBits<T> high = ordered_coordinate(box[dims + axis]);
    OrderedBits<T> low = ordered_coordinate(box[axis]);
    for (auto bits = static_cast<std::uint32_t>(std::bit_width(high - low)); bits > 0;) {
      if (last - first <= kQuickselectRecords) return quickselect<T>(access, first, middle, last, d);
      const Quantised<T> digit{low, bits > kSelectBits ? bits - kSelectBits : 0};
      const auto count = static_cast<std::uint64_t>(last - first);
      const bool is_shared = threads > 1 && split::is_split_in_parallel(count);
      const split::Parts parts{count, is_shared ? 4 * static_cast<std::uint64_t>(threads) : 1};
      counts.assign(parts.parts << kSelectBits, 0);
      const auto count_part = [&](std::uint64_t part) {
        std::uint32_t* own = counts.data() + (part << kSelectBits);
        const Record* end = first + parts.first(part + 1);
        for (const Record* r = first + parts.first(part); r != end; ++r) ++own[digit(access.at(*r, axis))];
      };
      if (is_shared) {
        runtime::parallel_for(parts.parts, parts.one_pass(threads), count_part);
      } else {
        count_part(0);
      }
      const auto rank = static_cast<std::uint64_t>(middle - first);
      std::uint64_t before = 0, inside = 0;
      OrderedBits<T> bucket = 0;
      for (;; ++bucket, before += inside) {
        inside = 0;
        for (std::uint64_t part = 0; part < parts.parts; ++part) inside += counts[(part << kSelectBits) + bucket];
        if (rank < before + inside) break;
      }
      low += bucket << digit.shift;
      bits = digit.shift;
      if (inside == count) continue;
      const T least = core::distance_of_bits(low);
      const T most =
          core::distance_of_bits(std::min<OrderedBits<T>>(high, low + ((OrderedBits<T>{1} << digit.shift) - 1)));
      const auto partition = [&](Record* from, std::uint64_t records, T value) {
        const split::Parts shares{records, parts.parts};
        const split::IsBelow<T, Access> is_left{access, axis, value};
        return is_shared ? from + split::partition_in_parallel(from, shares, threads, is_left)
                         : split::partition_records(from, from + records, is_left);
      };
      first = partition(first, count, least);
      last = partition(first, count - before, split::next_above(most));
    }
  }
  std::nth_element(first, middle, last,  // equal in all coordinates
                   [&](const Record& a, const Record& b) { return access.index_of(a) < access.index_of(b); });
}

}  // namespace kith::cpu
