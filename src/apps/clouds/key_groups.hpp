// Items with equal 64-bit keys as groups, by all threads.
//
// Bytes per item: 8 for the key and the item sorted by part, 4 each for item and group; tables of a part are in a
// cache.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kith::apps::inline v0 {

/// Groups are numbered part by part (`slot`), each part being those whose hashes begin alike, so that every group is
/// the work of one thread and lies in the cache with few others. `place` has them in the order of their first items.
struct KeyGroups {
  std::vector<std::uint32_t> items;       ///< part by part, ascending in each
  std::vector<std::uint32_t> slot_of;     ///< per entry of `items` the slot of its group
  std::vector<std::uint64_t> part_items;  ///< where each part begins in `items`, and the end
  std::vector<std::uint32_t> part_slots;  ///< the first slot of each part, and the end
  std::vector<std::uint32_t> first_item;  ///< per slot
  std::vector<std::uint32_t> place;       ///< per slot: how many groups have an earlier first item

  std::uint32_t count() const { return part_slots.back(); }
  std::uint64_t parts() const { return part_items.size() - 1; }
};

/// At most 2^32 - 2 keys. The answer's places, first items and members do not depend on the number of threads.
KeyGroups group_keys(std::span<const std::uint64_t> keys, int threads);

}  // namespace kith::apps::inline v0
