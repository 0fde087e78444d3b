// The answers of queries at one place are the same but for the query itself: a lane copies that of another query.
#pragma once

#include "cuda/queries/put_answer.cuh"

#include <cstdint>

namespace kith::cuda {

/// Copies the row of k entries at `from` to `to`.
template <typename V>
__device__ __forceinline__ void copy_entries(V* entries, std::uint64_t from, std::uint64_t to, std::uint32_t k,
                                             bool lies_well) {
  constexpr std::uint32_t kPerStore = sizeof(StoredWords<V>) / sizeof(V);
  if (lies_well && k % kPerStore == 0) {
    for (std::uint32_t i = 0; i < k; i += kPerStore) {
      *reinterpret_cast<StoredWords<V>*>(entries + to + i) =
          *reinterpret_cast<const StoredWords<V>*>(entries + from + i);
    }
  } else {
    for (std::uint32_t i = 0; i < k; ++i) entries[to + i] = entries[from + i];
  }
}

template <typename T>
__device__ void copy_row(const KnnAnswer<T>& answer, std::uint64_t from, std::uint64_t to, std::uint32_t k) {
  const bool lies_well = answer.lies_well();
  copy_entries(answer.reduced, from, to, k, lies_well);
  if (answer.wide != nullptr) {
    copy_entries(answer.wide, from, to, k, lies_well);
  } else {
    copy_entries(answer.indices, from, to, k, lies_well);
  }
}

/// The same where no query finds itself: `other`, whose row is at `from`, is put in, and `self`, which has a greater
/// number, is left out. Both are at distance 0, where entries are by number: if there are k that come before `other`,
/// both rows are the same, else `other` is the only one that its own row lacks.
template <typename T, typename V>
__device__ void copy_row_without(const KnnAnswer<T>& answer, V* numbers, std::uint64_t from, std::uint64_t to,
                                 std::uint32_t k, std::uint32_t other, std::uint32_t self) {
  bool is_in = false;
  std::uint32_t out = 0;
  for (std::uint32_t i = 0; i < k && out < k; ++i) {
    const V number = numbers[from + i];
    const T distance = answer.reduced[from + i];
    if (!is_in && (distance > 0 || static_cast<V>(other) < number)) {
      numbers[to + out] = static_cast<V>(other);
      answer.reduced[to + out] = T(0);
      is_in = true;
      ++out;
    }
    if (number == static_cast<V>(self) || out == k) continue;
    numbers[to + out] = number;
    answer.reduced[to + out] = distance;
    ++out;
  }
  if (out < k) {
    numbers[to + out] = static_cast<V>(other);
    answer.reduced[to + out] = T(0);
  }
}

}  // namespace kith::cuda
