// split_records on several threads, for the few large nodes at the top of the tree.
#pragma once

#include "split/split_records.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::split {

/// Whether several threads split a node of so many records.
inline bool is_split_in_parallel(std::uint64_t records) { return records >= tuning().split_records; }
/// About what splitting a node takes for each of its points.
inline constexpr double kSplitNanoseconds = 10;

/// The records [0, count) cut into equal parts.
struct Parts {
  std::uint64_t count;
  std::uint64_t parts;

  std::uint64_t first(std::uint64_t part) const { return count * part / parts; }
  /// A pass over them: some of those that splitting takes.
  runtime::ParallelOptions one_pass(int threads) const {
    const double each = static_cast<double>(count) / static_cast<double>(parts);
    return {.threads = threads, .nanoseconds_per_task = each * kSplitNanoseconds / 4};
  }
};

/// Moves the records with `is_left` to the front on all threads; returns how many there are. Each part is partitioned
/// by itself; then the right ones before the boundary change places with the left ones after it.
template <typename Record, typename IsLeft>
std::uint64_t partition_in_parallel(Record* records, Parts parts, int threads, const IsLeft& is_left) {
  std::vector<std::uint64_t> boundaries(parts.parts);
  runtime::parallel_for(parts.parts, parts.one_pass(threads), [&](std::uint64_t part) {
    boundaries[part] = static_cast<std::uint64_t>(
        partition_records(records + parts.first(part), records + parts.first(part + 1), is_left) - records);
  });
  std::uint64_t left = 0;
  for (std::uint64_t part = 0; part < parts.parts; ++part) left += boundaries[part] - parts.first(part);

  // Misplaced runs, in order; both lists hold equally many records.
  struct Run {
    std::uint64_t first, count;
  };
  std::vector<Run> early, late;  // right ones before the boundary, left ones after it
  for (std::uint64_t part = 0; part < parts.parts; ++part) {
    const std::uint64_t first = parts.first(part), end = parts.first(part + 1), boundary = boundaries[part];
    if (boundary < std::min(end, left)) early.push_back({boundary, std::min(end, left) - boundary});
    if (boundary > std::max(first, left)) late.push_back({std::max(first, left), boundary - std::max(first, left)});
  }
  std::vector<std::pair<Run, std::uint64_t>> swaps;  // a run and where it goes
  std::size_t e = 0, l = 0;
  while (e < early.size() && l < late.size()) {
    const std::uint64_t count = std::min(early[e].count, late[l].count);
    swaps.push_back({{early[e].first, count}, late[l].first});
    early[e] = {early[e].first + count, early[e].count - count};
    late[l] = {late[l].first + count, late[l].count - count};
    e += early[e].count == 0 ? 1 : 0;
    l += late[l].count == 0 ? 1 : 0;
  }
  runtime::parallel_for(swaps.size(), {.threads = threads}, [&](std::uint64_t s) {
    Record* from = records + swaps[s].first.first;
    std::swap_ranges(from, from + swaps[s].first.count, records + swaps[s].second);
  });
  return left;
}

/// As split_records.
template <typename T, typename Access>
T split_in_parallel(const Access& access, typename Access::Record* first, typename Access::Record* middle,
                    typename Access::Record* last, std::uint32_t d, const KeyStorage<T>& storage, int threads) {
  using Record = typename Access::Record;
  const auto count = static_cast<std::uint64_t>(last - first);
  const auto rank = static_cast<std::uint64_t>(middle - first);
  const Parts parts{count, 4 * static_cast<std::uint64_t>(threads)};
  const CoordinateAt<Access> key_at{access, first, d};

  // The value at the rank: each part keeps what lies in the bracket, the rest is done alone.
  const Bracket<T> bracket = guess_bracket<T>(key_at, count, rank);
  std::vector<BracketCount> found(parts.parts);
  runtime::parallel_for(parts.parts, parts.one_pass(threads), [&](std::uint64_t part) {
    const std::uint64_t begin = parts.first(part);
    found[part] = bracket.keep(CoordinateAt<Access>{access, first + begin, d}, parts.first(part + 1) - begin,
                               storage.first + begin);
  });
  std::uint64_t below = 0, inside = 0;
  for (std::uint64_t part = 0; part < parts.parts; ++part) {  // together, at the front
    std::copy_n(storage.first + parts.first(part), found[part].inside, storage.first + inside);
    below += found[part].below;
    inside += found[part].inside;
  }
  if (rank < below || rank >= below + inside || inside > storage.second_size) {  // a bad sample: one thread does it all
    return split_records<T>(access, first, middle, last, d, storage);
  }
  const T value =
      select_key<T>(KeyArray<T>{storage.first}, inside, rank - below, {storage.second, storage.first, count});

  const std::uint64_t left = partition_in_parallel(first, parts, threads, IsBelow<T, Access>{access, d, value});
  if (left != rank) {
    Record* equals = first + left;
    split_equals<T>(access, equals, middle, partition_up_to(access, equals, last, d, value), d, storage);
  }
  return value;
}

}  // namespace kith::split
