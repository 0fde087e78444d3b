// Partitions and medians of keys without a branch on their values: half of such branches would be mispredicted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace kith::python {

/// Moves the keys that `belongs` to the front and returns how many they are.
template <typename Key, typename Belongs>
std::size_t move_to_front(std::span<Key> keys, Belongs&& belongs) {
  std::size_t front = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Key key = keys[i];
    keys[i] = keys[front];
    keys[front] = key;
    front += belongs(key) ? 1 : 0;
  }
  return front;
}

/// The value of this rank, from 0, by rounds of partitions around the median of three. `Key` has a `value`.
template <typename Key>
double value_of_rank(std::span<Key> keys, std::size_t rank) {
  constexpr std::size_t kFew = 24;
  constexpr int kMostRounds = 64;  // far more than random pivots take
  for (int round = 0; keys.size() > kFew && round < kMostRounds; ++round) {
    const double first = keys[keys.size() / 4].value;
    const double second = keys[keys.size() / 2].value;
    const double third = keys[keys.size() - keys.size() / 4].value;
    const double pivot = std::max(std::min(first, second), std::min(std::max(first, second), third));
    const std::size_t below = move_to_front(keys, [pivot](const Key& key) { return key.value < pivot; });
    if (rank < below) {
      keys = keys.first(below);
      continue;
    }
    keys = keys.subspan(below);
    rank -= below;
    if (below > keys.size() / 8) continue;
    const std::size_t equal = move_to_front(keys, [pivot](const Key& key) { return key.value == pivot; });
    if (rank < equal) return pivot;
    keys = keys.subspan(equal);
    rank -= equal;
  }
  const auto chosen = keys.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(keys.begin(), chosen, keys.end(), [](const Key& a, const Key& b) { return a.value < b.value; });
  return chosen->value;
}

}  // namespace kith::python
