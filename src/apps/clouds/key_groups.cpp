// See key_groups.hpp: a stable split by hash into parts, then a hash table for each part.
#include "apps/clouds/key_groups.hpp"

#include "apps/random_draws.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>
#include <bit>

namespace kith::apps::inline v0 {
namespace {

constexpr std::uint64_t kKeysPerTask = 32768;
constexpr std::uint64_t kKeysPerPart = 8192;  // so that the table of a part fits into the first or second cache
constexpr std::uint64_t kMostKeyParts = 1024;
constexpr std::uint32_t kFreeEntry = 0xffffffff;

/// The keys in the order of the parts.
struct SplitKeys {
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> items;
  std::vector<std::uint64_t> starts;
};

SplitKeys split_by_hash(std::span<const std::uint64_t> keys, std::uint64_t parts, int threads) {
  const int shift = 64 - std::countr_zero(parts);  // parts is a power of two
  const auto part_of = [&](std::uint64_t key) { return parts == 1 ? 0 : scramble(key) >> shift; };
  const std::uint64_t tasks = (keys.size() + kKeysPerTask - 1) / kKeysPerTask;
  std::vector<std::uint32_t> counts(tasks * parts);
  runtime::parallel_for(tasks, {.threads = threads}, [&](std::uint64_t task) {
    std::uint32_t* const own = counts.data() + task * parts;
    const std::uint64_t end = std::min<std::uint64_t>(keys.size(), (task + 1) * kKeysPerTask);
    for (std::uint64_t i = task * kKeysPerTask; i < end; ++i) ++own[part_of(keys[i])];
  });
  SplitKeys split{std::vector<std::uint64_t>(keys.size()), std::vector<std::uint32_t>(keys.size()),
                  std::vector<std::uint64_t>(parts + 1)};
  std::vector<std::uint32_t> next(tasks * parts);
  std::uint64_t before = 0;
  for (std::uint64_t part = 0; part < parts; ++part) {
    split.starts[part] = before;
    for (std::uint64_t task = 0; task < tasks; ++task) {
      next[task * parts + part] = static_cast<std::uint32_t>(before);
      before += counts[task * parts + part];
    }
  }
  split.starts[parts] = before;
  runtime::parallel_for(tasks, {.threads = threads}, [&](std::uint64_t task) {
    std::uint32_t* const own = next.data() + task * parts;
    const std::uint64_t end = std::min<std::uint64_t>(keys.size(), (task + 1) * kKeysPerTask);
    for (std::uint64_t i = task * kKeysPerTask; i < end; ++i) {
      const std::uint32_t to = own[part_of(keys[i])]++;
      split.keys[to] = keys[i];
      split.items[to] = static_cast<std::uint32_t>(i);
    }
  });
  return split;
}

/// Numbers of different keys from 0 in the order in which they come.
class KeyNumbers {
 public:
  std::uint32_t number_of(std::uint64_t key) {
    if (known_.size() * 2 >= entries_.size()) grow();
    std::uint64_t at = scramble(key) & mask_;
    while (entries_[at] != kFreeEntry) {
      if (known_[entries_[at]] == key) return entries_[at];
      at = (at + 1) & mask_;
    }
    entries_[at] = static_cast<std::uint32_t>(known_.size());
    known_.push_back(key);
    return entries_[at];
  }
  std::uint32_t count() const { return static_cast<std::uint32_t>(known_.size()); }

 private:
  void grow() {
    entries_.assign(std::max<std::size_t>(64, entries_.size() * 4), kFreeEntry);
    mask_ = entries_.size() - 1;
    for (std::uint32_t number = 0; number < known_.size(); ++number) {
      std::uint64_t at = scramble(known_[number]) & mask_;
      while (entries_[at] != kFreeEntry) at = (at + 1) & mask_;
      entries_[at] = number;
    }
  }

  std::vector<std::uint32_t> entries_;
  std::vector<std::uint64_t> known_;
  std::uint64_t mask_ = 0;
};

void order_by_first_item(KeyGroups& groups, std::uint64_t items) {
  std::vector<std::uint32_t> slot_at(items, kFreeEntry);
  for (std::uint32_t slot = 0; slot < groups.first_item.size(); ++slot) slot_at[groups.first_item[slot]] = slot;
  groups.place.resize(groups.first_item.size());
  std::uint32_t place = 0;
  for (const std::uint32_t slot : slot_at) {
    if (slot != kFreeEntry) groups.place[slot] = place++;
  }
}

}  // namespace

KeyGroups group_keys(std::span<const std::uint64_t> keys, int threads) {
  const std::uint64_t parts = std::min(kMostKeyParts, std::bit_ceil(keys.size() / kKeysPerPart + 1));
  SplitKeys split = split_by_hash(keys, parts, threads);
  KeyGroups groups;
  groups.items = std::move(split.items);
  groups.part_items = std::move(split.starts);
  groups.slot_of.resize(keys.size());
  std::vector<std::vector<std::uint32_t>> first_of_part(parts);
  runtime::parallel_for(parts, {.threads = threads}, [&](std::uint64_t part) {
    KeyNumbers numbers;
    std::vector<std::uint32_t>& first = first_of_part[part];
    for (std::uint64_t i = groups.part_items[part]; i < groups.part_items[part + 1]; ++i) {
      groups.slot_of[i] = numbers.number_of(split.keys[i]);
      if (numbers.count() > first.size()) first.push_back(groups.items[i]);
    }
  });
  groups.part_slots.push_back(0);
  for (const auto& first : first_of_part) {
    groups.first_item.insert(groups.first_item.end(), first.begin(), first.end());
    groups.part_slots.push_back(static_cast<std::uint32_t>(groups.first_item.size()));
  }
  runtime::parallel_for(parts, {.threads = threads}, [&](std::uint64_t part) {
    for (std::uint64_t i = groups.part_items[part]; i < groups.part_items[part + 1]; ++i) {
      groups.slot_of[i] += groups.part_slots[part];
    }
  });
  order_by_first_item(groups, keys.size());
  return groups;
}

}  // namespace kith::apps::inline v0
