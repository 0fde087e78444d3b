// Selection by counting: a block per row, any k.
//
// Words of keys are counted in 2048 bins of equal width between the least and the greatest, then between the bounds of
// the bin with the k-th, and so on. A row is read once for the bounds, once for each count, and once to keep the k
// least, which lie at its front then.
#pragma once

#include "cuda/brute_force/select/block_select.cuh"
#include "cuda/brute_force/select/row_parts.cuh"

#include <cstdint>

namespace kith::cuda {

inline constexpr std::uint32_t kRadixBits = 11;
inline constexpr std::uint32_t kRadixBins = 1 << kRadixBits;

template <typename T>
struct RadixStorage : BlockStorage<T> {
  std::uint32_t bins[kRadixBins];
  std::uint32_t low, high;
  std::uint32_t bin, before, inside;
};

template <typename T>
class RadixSelection {
 public:
  __device__ RadixSelection(RadixStorage<T>& storage, const Entry<T>* list, std::uint32_t length)
      : storage_(storage), list_(list), length_(length) {}

  /// A bound that k keys do not exceed, or all, if they are fewer.
  __device__ EntryKey<T> find_bound(std::uint32_t k) {
    EntryKey<T> bound = key_of_none<T>();
    narrow<0>(k, bound);
    return bound;
  }

 private:
  template <std::uint32_t kWord>
  __device__ static bool is_among(const EntryKey<T>& key, const EntryKey<T>& bound) {
    return !is_none(key) && begin_alike<kWord>(key, bound);
  }

  /// As HeldKeys::narrow.
  template <std::uint32_t kWord>
  __device__ void narrow(std::uint32_t need, EntryKey<T>& bound) {
    if (!find_range<kWord>(bound)) {
      bound.words[kWord] = 0;
      return;
    }
    std::uint32_t low = storage_.low;
    const std::uint32_t high = storage_.high;
    std::uint32_t span = high - low;
    for (;;) {
      const std::uint32_t shift = span < kRadixBins ? 0 : kWarp - leading_zeros(span) - kRadixBits;
      count<kWord>(bound, low, span, shift);
      find_bin(need);
      if (storage_.inside == 0) {
        bound.words[kWord] = high;
        return;
      }
      low += storage_.bin << shift;
      span -= storage_.bin << shift;
      const std::uint32_t width = (1u << shift) - 1;
      span = width < span ? width : span;
      need -= storage_.before;
      if (storage_.inside == need) {
        bound.words[kWord] = low + span;
        return;
      }
      if (shift == 0) break;
    }
    bound.words[kWord] = low;
    if constexpr (kWord + 1 < EntryKey<T>::kWords) narrow<kWord + 1>(need, bound);
  }

  /// The least and the greatest word; false if there is none.
  template <std::uint32_t kWord>
  __device__ bool find_range(const EntryKey<T>& bound) {
    sync_block();
    if (thread_number() == 0) {
      storage_.low = kAllBits;
      storage_.high = 0;
    }
    std::uint32_t low = kAllBits, high = 0;
    bool is_there = false;
    each_in_block(list_, length_, [&](const EntryKey<T>& key) {
      if (!is_among<kWord>(key, bound)) return;
      is_there = true;
      low = key.words[kWord] < low ? key.words[kWord] : low;
      high = key.words[kWord] > high ? key.words[kWord] : high;
    });
    low = min_of_warp(low);
    high = max_of_warp(high);
    const bool is_any = any_thread(is_there);
    if (lane_number() == 0) {
      atomic_min(&storage_.low, low);
      atomic_max(&storage_.high, high);
    }
    sync_block();
    return is_any;
  }

  template <std::uint32_t kWord>
  __device__ void count(const EntryKey<T>& bound, std::uint32_t low, std::uint32_t span, std::uint32_t shift) {
    sync_block();  // the last bin has been read
    for (std::uint32_t i = thread_number(); i < kRadixBins; i += kSelectThreads) storage_.bins[i] = 0;
    if (thread_number() == 0) storage_.inside = 0;
    sync_block();
    each_in_block(list_, length_, [&](const EntryKey<T>& key) {
      const std::uint32_t above = key.words[kWord] - low;
      if (is_among<kWord>(key, bound) && above <= span) atomic_add(storage_.bins + (above >> shift), 1u);
    });
    sync_block();
  }

  /// The bin with the `need`-th to room_.bin, before and inside.
  __device__ void find_bin(std::uint32_t need) {
    constexpr std::uint32_t kOwn = kRadixBins / kSelectThreads;
    std::uint32_t counts[kOwn], own = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < kOwn; ++i) own += counts[i] = storage_.bins[thread_number() * kOwn + i];
    std::uint32_t before = sum_in_block(storage_, own).before;
#pragma unroll
    for (std::uint32_t i = 0; i < kOwn; ++i) {
      if (before < need && need <= before + counts[i]) {
        storage_.bin = thread_number() * kOwn + i;
        storage_.before = before;
        storage_.inside = counts[i];
      }
      before += counts[i];
    }
    sync_block();
  }

  RadixStorage<T>& storage_;
  const Entry<T>* list_;
  std::uint32_t length_;
};

/// The block's shared memory is its storage.
template <typename T>
__device__ __forceinline__ RadixStorage<T>& radix_storage() {
  return *reinterpret_cast<RadixStorage<T>*>(shared_memory());
}

/// The k least of a list go to its front; returns how many they are. `last` becomes the greatest of them.
template <typename T>
__device__ KITH_NOINLINE std::uint32_t cut_by_radix(Entry<T>* list, std::uint32_t length, std::uint32_t k,
                                                    EntryKey<T>& last) {
  RadixStorage<T>& storage = radix_storage<T>();
  const EntryKey<T> bound = RadixSelection<T>(storage, list, length).find_bound(k);
  return move_to_front(storage, list, length, bound, last);
}

/// A block for each part of a row: its k least go to its front, none behind them.
template <typename T>
__global__ void __launch_bounds__(kSelectThreads, 2)
    cut_parts_by_radix(const __grid_constant__ SelectTask<T> task, RowParts parts) {
  const std::uint64_t all = rows_of(task) * parts.count;
  for (std::uint64_t i = block_number(); i < all; i += blocks_in_grid()) {
    const std::uint32_t begin = static_cast<std::uint32_t>(i % parts.count) * parts.length;
    const SelectRow<T> opened = open_row(task, i / parts.count, begin == 0 && thread_number() == 0);
    if (opened.is_skipped || begin >= opened.length) continue;
    const std::uint32_t rest = opened.length - begin;
    const std::uint32_t length = rest < parts.length ? rest : parts.length;
    EntryKey<T> last;
    const std::uint32_t kept = cut_by_radix(opened.entries + begin, length, task.k, last);
    const std::uint32_t end = length < task.k ? length : task.k;
    for (std::uint32_t j = kept + thread_number(); j < end; j += kSelectThreads) {
      opened.entries[begin + j] = Entry<T>::none();
    }
  }
}

template <typename T>
__global__ void __launch_bounds__(kSelectThreads, 2)
    select_by_radix(const __grid_constant__ SelectTask<T> task, RowParts parts) {
  each_row_of_block(task, [&](std::uint64_t row, const SelectRow<T>& opened) {
    const std::uint32_t length =
        parts.count == 1 ? opened.length : join_parts(opened.entries, opened.length, parts.length, task.k);
    EntryKey<T> last;
    const std::uint32_t kept = cut_by_radix(opened.entries, length, task.k, last);
    if (task.goal == SelectGoal::cut) {
      if (thread_number() == 0) note_cut(task, row, kept, last.entry());
      return;
    }
    answer_by_block(task, opened, sort_front<T>(radix_storage<T>(), opened.entries, kept), kept);
    sync_block();
  });
}

}  // namespace kith::cuda
