// Finds the record of a given rank by one coordinate: as select_key, but numbers keep the places of their records.
#pragma once

#include "split/select_key.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace kith::split {

/// A coordinate, as an ordered integer, and the place of its record.
template <typename Key>
class PlacedKey {
 public:
  PlacedKey() = default;
  PlacedKey(Key key, std::size_t place) : key_(key), place_(place) {}
  Key key() const { return key_; }
  std::size_t place() const { return place_; }

 private:
  Key key_;
  std::uint64_t place_;
};

/// In one register: compilers would insert each half into the register of the loop's last round, and wait for it.
template <>
class PlacedKey<std::int32_t> {
 public:
  PlacedKey() = default;
  PlacedKey(std::int32_t key, std::size_t place)
      : bits_(static_cast<std::uint32_t>(key) | static_cast<std::uint64_t>(place) << 32) {}
  std::int32_t key() const { return static_cast<std::int32_t>(bits_); }
  std::size_t place() const { return bits_ >> 32; }

 private:
  std::uint64_t bits_;
};

template <typename T>
T key_of(const PlacedKey<T>& placed) {
  return placed.key();
}

/// Numbers side by side.
template <typename T>
struct PlacedKeys {
  const PlacedKey<T>* keys;

  PlacedKey<T> operator()(std::size_t i) const { return keys[i]; }
};

/// The coordinate of a rank, the place of a record that has it, and how many have it.
template <typename T>
struct FoundRank {
  T key;
  std::size_t place;
  std::size_t equals;
};

/// Among `count` numbers.
template <typename T, typename KeyAt>
FoundRank<T> find_key(const KeyAt& at, std::size_t count, T key) {
  FoundRank<T> found{key, 0, 0};
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_equal = at(i).key() == key;
    found.place = is_equal ? at(i).place() : found.place;
    found.equals += is_equal ? 1 : 0;
  }
  return found;
}

/// As select_key; at(i) gives a PlacedKey. `first` and `second` have the capacity for `count` numbers.
template <typename T, typename KeyAt>
FoundRank<T> find_rank(const KeyAt& at, std::size_t count, std::size_t rank, PlacedKey<T>* first,
                       PlacedKey<T>* second) {
  const auto key_at = [&](std::size_t i) { return at(i).key(); };
  if (count <= kFewKeys) {
    std::array<T, kFewKeys> few;
    for (std::size_t i = 0; i < count; ++i) few[i] = key_at(i);
    return find_key(at, count, select_few(few.data(), count, rank, rank).first);
  }
  Bracket<T> bracket = guess_bracket<T>(key_at, count, rank);
  BracketCount found = bracket.keep(at, count, first);
  if (rank < found.below || rank >= found.below + found.inside) {  // missed: everything on the side where it lies
    bracket.widen(rank < found.below);
    found = bracket.keep(at, count, first);
  }
  if (bracket.low == bracket.high) return {bracket.low, first->place(), found.inside};
  const PlacedKeys<T> again{first};
  if (found.inside < count) return find_rank<T>(again, found.inside, rank - found.below, second, first);
  std::nth_element(first, first + rank, first + count, [](const auto& a, const auto& b) { return a.key() < b.key(); });
  return find_key(again, count, first[rank].key());
}

}  // namespace kith::split
