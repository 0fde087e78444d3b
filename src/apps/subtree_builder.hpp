// Builds the subtree of a range whose records fit into a cache. Records go to and fro between two buffers, once per
// level; few are sorted by their ranks, and the order of two or three is written down.
#pragma once

#include "apps/record_box.hpp"
#include "apps/tree_ranges.hpp"
#include "split/find_rank.hpp"
#include "split/ordered_integer.hpp"
#include "split/rank_records.hpp"

#include <kith/index.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

namespace kith::apps::inline v0 {

/// What the work of one thread needs beside the records.
template <typename Key, typename Record>
struct SubtreeStorage {
  explicit SubtreeStorage(std::uint64_t points)
      : records(std::make_unique_for_overwrite<Record[]>(points)),
        first(std::make_unique_for_overwrite<split::PlacedKey<Key>[]>(points)),
        second(std::make_unique_for_overwrite<split::PlacedKey<Key>[]>(points)) {}

  std::unique_ptr<Record[]> records;
  std::unique_ptr<split::PlacedKey<Key>[]> first, second;
};

/// The coordinates of records are ordered integers of T.
template <typename T, typename Access>
class SubtreeBuilder {
 public:
  using Key = split::OrderedInteger<T>;
  using Record = typename Access::Record;
  using Storage = SubtreeStorage<Key, Record>;

  /// `rows` and `split_dim` have a place for every node of the tree.
  SubtreeBuilder(Access access, SplitRule rule, std::uint32_t* rows, std::uint32_t* split_dim)
      : access_(access),
        by_cycle_(rule == SplitRule::cycle || access.dims() == 1),
        rows_(rows),
        split_dim_(split_dim) {}

  /// `records` are those of the range, in any order; they are gone after it.
  void run(const TreeRange& range, Record* records, const Storage& storage) const {
    const Task task{*this, storage, range.rule == Middle::left ? 1u : 0u};
    task.split({range.first, range.size(), range.level % access_.dims()}, records, storage.records.get());
  }

  void set_node(std::uint64_t place, const Record& record, std::uint32_t d) const {
    rows_[place] = access_.index_of(record);
    split_dim_[place] = d;
  }

 private:
  struct Node {
    std::uint64_t first, count;
    std::uint32_t cycle_dim;
  };

  struct Task {
    const SubtreeBuilder& tree;
    const Storage& storage;
    std::uint32_t left;  ///< 1: of two middles the left one

    /// `to` has the capacity for the records of the node; both are overwritten.
    void split(const Node& node, Record* from, Record* to) const {
      if (node.count <= 3) return tree.write_few(node, from, left);
      const std::uint64_t middle = (node.count - left) / 2;
      const std::uint32_t d = tree.dimension_of(node, from);
      if (node.count <= split::kRankedRecords) {
        split::sort_ranked<Key>(tree.access_, from, node.count, d, to);
      } else {
        tree.split_many(from, node.count, middle, d, to, storage);
      }
      tree.set_node(node.first + middle, to[middle], d);
      const std::uint32_t next = tree.next_dim(node.cycle_dim);
      split({node.first, middle, next}, to, from);
      const std::uint64_t after = middle + 1;
      split({node.first + after, node.count - after, next}, to + after, from + after);
    }
  };

  std::uint32_t next_dim(std::uint32_t d) const { return d + 1 == access_.dims() ? 0 : d + 1; }
  std::uint32_t dimension_of(const Node& node, const Record* records) const {
    return by_cycle_ ? node.cycle_dim : RecordBox<T, Access>(access_, records, records + node.count).widest();
  }

  /// One to three records are in order as soon as they are sorted by the node's dimension.
  void write_few(const Node& node, const Record* records, std::uint32_t left) const {
    if (node.count == 1) return set_node(node.first, records[0], by_cycle_ ? node.cycle_dim : 0);
    const std::uint32_t d = dimension_of(node, records), below = by_cycle_ ? next_dim(node.cycle_dim) : 0;
    const auto follows = [&](std::size_t a, std::size_t b) {
      const Key x = access_.at(records[a], d), y = access_.at(records[b], d);
      return (x != y ? y < x : split::precedes(access_, records[b], records[a], d)) ? 1u : 0u;
    };
    // All are read before any is written: records may be the rows themselves.
    const std::uint32_t one = access_.index_of(records[0]), other = access_.index_of(records[1]);
    std::uint32_t over = follows(0, 1), other_over = 1 - over;
    if (node.count == 3) {
      const std::uint32_t third = access_.index_of(records[2]), over_third = follows(0, 2), other_third = follows(1, 2);
      over += over_third;
      other_over += other_third;
      rows_[node.first + 2 - over_third - other_third] = third;
    }
    rows_[node.first + over] = one;
    rows_[node.first + other_over] = other;
    std::fill_n(split_dim_ + node.first, node.count, below);
    split_dim_[node.first + (node.count - left) / 2] = d;
  }

  /// After: the node is at to[middle], those before it by the super-key are before it.
  void split_many(Record* from, std::uint64_t count, std::uint64_t middle, std::uint32_t d, Record* to,
                  const Storage& storage) const {
    using PlacedKey = split::PlacedKey<Key>;
    const auto at = [&](std::size_t i) { return PlacedKey(access_.at(from[i], d), i); };
    PlacedKey *const first = storage.first.get(), *const second = storage.second.get();
    const split::FoundRank<Key> found = split::find_rank<Key>(at, count, middle, first, second);
    if (found.equals == 1) {
      const Record node = std::exchange(from[found.place], from[count - 1]);
      divide(from, count - 1, to, to + count, d, found.key);
      to[middle] = node;
      return;
    }
    Record* const equals = divide(from, count, to, to + count, d, found.key);
    Record* const end = split::partition_up_to(access_, equals, to + count, d, found.key);
    const split::KeyStorage<Key> keys{reinterpret_cast<Key*>(first), reinterpret_cast<Key*>(second), count};
    split::split_equals<Key>(access_, equals, to + middle, end, d, keys);
    const auto node = std::min_element(
        to + middle, end, [&](const Record& a, const Record& b) { return split::precedes(access_, a, b, d); });
    std::swap(to[middle], *node);
  }

  /// Copies the records below `key` to the front of [to, end), the others to its back. Returns the end of the former.
  Record* divide(const Record* from, std::size_t count, Record* to, Record* end, std::uint32_t d, Key key) const {
    std::size_t lefts = 0;
    for (std::size_t i = 0; i < count; ++i) {
      // As a whole, not each coordinate by itself; to both places, one of which is written again.
      std::memcpy(to + lefts, from + i, sizeof(Record));
      std::memcpy(end - 1 - i + lefts, from + i, sizeof(Record));
      lefts += access_.at(from[i], d) < key ? 1 : 0;
    }
    return to + lefts;
  }

  Access access_;
  bool by_cycle_;
  std::uint32_t* rows_;
  std::uint32_t* split_dim_;
};

}  // namespace kith::apps::inline v0
