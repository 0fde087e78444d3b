// The ranks of a few records by the super-key, by counting for each how many come before it: no branch on the data
// unless coordinates are equal.
#pragma once

#include "split/split_records.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace kith::split {

/// The most records that rank_records takes.
inline constexpr std::size_t kRankedRecords = 16;

/// An integer as wide as a coordinate.
template <typename T>
using RankOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <typename T>
using RecordRanks = std::array<RankOf<T>, kRankedRecords>;

/// `kCount` places, of which the first `count` hold records.
template <typename T, std::size_t kCount>
class RankCounts {
 public:
  explicit RankCounts(std::size_t count) : count_(count) {}

  /// By the first component of the super-key; key_at(i) is that of record i.
  template <typename KeyAt>
  void count_lower(const KeyAt& key_at) {
    Vectors<T> own;
    take(key_at, own);
    for (std::size_t i = 0; i < count_; ++i) {
      const T key = key_at(i);
      for (std::size_t v = 0; v < kVectors; ++v) lower_[v] -= key < own[v];  // true is -1
    }
  }
  /// Notes which are equal by the first component.
  template <typename KeyAt>
  void note_equals(const KeyAt& key_at) {
    Vectors<T> own;
    take(key_at, own);
    for (std::size_t i = 0; i < count_; ++i) {
      for (std::size_t v = 0; v < kVectors; ++v) equal_[i][v] = key_at(i) == own[v];
    }
  }
  /// By another component among those that are equal so far.
  template <typename Key, typename KeyAt>
  void count_among_equals(const KeyAt& key_at) {
    Vectors<Key> own;
    take(key_at, own);
    for (std::size_t i = 0; i < count_; ++i) {
      const Key key = key_at(i);
      for (std::size_t v = 0; v < kVectors; ++v) {
        lower_[v] -= equal_[i][v] & (key < own[v]);
        equal_[i][v] &= key == own[v];
      }
    }
  }
  /// Copies the ranks; true if they all differ.
  bool are_all_different(RankOf<T>* ranks) const {
    __builtin_memcpy(ranks, lower_, sizeof(lower_));
    std::size_t sum = 0;
    for (std::size_t i = 0; i < count_; ++i) sum += ranks[i];
    return 2 * sum == count_ * (count_ - 1);
  }

 private:
  using Counter = std::make_signed_t<RankOf<T>>;
  static constexpr std::size_t kLanes = 16 / sizeof(T), kVectors = kCount / kLanes;
  template <typename Key>
  struct VectorOf {
    typedef Key type __attribute__((vector_size(16)));
  };
  template <typename Key>
  using Vectors = typename VectorOf<Key>::type[kVectors];

  /// Lane by lane: loads of vectors would wait for the stores of single numbers.
  template <typename KeyAt, typename Own>
  void take(const KeyAt& key_at, Own& own) const {
    using Vector = std::remove_extent_t<Own>;
    const auto key = [&](std::size_t i) { return key_at(i < count_ ? i : 0); };
    for (std::size_t v = 0, i = 0; v < kVectors; ++v, i += kLanes) {
      if constexpr (kLanes == 4) {
        own[v] = Vector{key(i), key(i + 1), key(i + 2), key(i + 3)};
      } else {
        own[v] = Vector{key(i), key(i + 1)};
      }
    }
  }

  std::size_t count_;
  Vectors<Counter> lower_ = {};
  Vectors<Counter> equal_[kCount];
};

/// ranks[i] of record i among `count` <= kCount, by the super-key of dimension d.
template <typename T, std::size_t kCount, typename Access>
void rank_up_to(const Access& access, const typename Access::Record* records, std::size_t count, std::uint32_t d,
                RecordRanks<T>& ranks) {
  const auto coordinate = [&](std::uint32_t dim) {
    return [&access, records, dim](std::size_t i) { return access.at(records[i], dim); };
  };
  RankCounts<T, kCount> counts(count);
  counts.count_lower(coordinate(d));
  if (counts.are_all_different(ranks.data())) return;
  counts.note_equals(coordinate(d));
  for (std::uint32_t component = 1; component < access.dims(); ++component) {
    counts.template count_among_equals<T>(coordinate((d + component) % access.dims()));
    if (counts.are_all_different(ranks.data())) return;
  }
  counts.template count_among_equals<RankOf<T>>(
      [&](std::size_t i) { return static_cast<RankOf<T>>(access.index_of(records[i])); });
  counts.are_all_different(ranks.data());
}

/// Copies `count` <= kRankedRecords records to `to`, in the order of the super-key of dimension d.
template <typename T, typename Access>
void sort_ranked(const Access& access, const typename Access::Record* from, std::size_t count, std::uint32_t d,
                 typename Access::Record* to) {
  RecordRanks<T> ranks;
  if (count <= 8) {
    rank_up_to<T, 8>(access, from, count, d, ranks);
  } else {
    rank_up_to<T, kRankedRecords>(access, from, count, d, ranks);
  }
  for (std::size_t i = 0; i < count; ++i) std::memcpy(to + ranks[i], from + i, sizeof(from[i]));
}

}  // namespace kith::split
