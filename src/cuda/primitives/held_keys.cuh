// Up to 512 entries that a warp holds in its registers, and the k least of them, without sorting.
//
// Keys are counted in 128 bins of equal width between the least and the greatest; then again between the bounds of the
// bin with the k-th, and so on, until all of a bin belong to the k. Of some hundred keys two rounds are the rule. Ties
// of the first word go on with the next.
#pragma once

#include "cuda/primitives/entry_key.cuh"

#include <cstdint>

namespace kith::cuda {

template <typename T>
class HeldKeys {
 public:
  static constexpr std::uint32_t kRows = 16;
  static constexpr std::uint32_t kMost = kRows * kWarp;
  static constexpr std::uint32_t kBinBits = 7;
  static constexpr std::uint32_t kBins = 1 << kBinBits;

  /// The shared memory of the block begins with bins for each warp, which are 0 but during a call.
  static constexpr std::uint32_t kBinBytes = kBins * sizeof(std::uint32_t);
  __device__ static void clear_bins() {
    for (std::uint32_t i = lane_number(); i < kBins; i += kWarp) bins()[i] = 0;
    sync_warp();
  }

  __device__ __forceinline__ void load(const Entry<T>* list, std::uint32_t count) {
    rows_ = (count + kWarp - 1) / kWarp;
#pragma unroll
    for (std::uint32_t group = 0; group < kRows; group += kGroup) {
      const bool is_used = group < rows_;
#pragma unroll
      for (std::uint32_t row = group; row < group + kGroup; ++row) {
        // Rows that are not used get a value, too: otherwise those of the list before would be kept for them.
        keys_[row] = key_of_none<T>();
        if (is_used) keys_[row] = load_key(list, row * kWarp + lane_number(), count);
      }
    }
  }

  /// Selects the k least, and returns how many they are: all but `none`, if that is less.
  __device__ __forceinline__ std::uint32_t select(std::uint32_t k) {
    EntryKey<T> bound = key_of_none<T>();
    narrow<0>(k, bound);
    selected_ = 0;
    each([&](EntryKey<T>& key, std::uint32_t row) {
      if (!(bound < key)) selected_ |= 1u << row;
    });
    const std::uint32_t own = count_bits(selected_);
    const std::uint32_t up_to = sum_up_to_lane(own);
    before_ = up_to - own;
    return shuffle(up_to, kWarp - 1);
  }

  /// Writes them to `to`, in any order.
  __device__ __forceinline__ void put(Entry<T>* to) {
    Entry<T>* at = to + before_;
    each([&](EntryKey<T>& key, std::uint32_t row) {
      if ((selected_ >> row & 1) != 0) *at++ = key.entry();
    });
  }

  /// The greatest of those that were selected last; there is one.
  __device__ __forceinline__ EntryKey<T> last_selected() {
    EntryKey<T> last;
    std::uint32_t among = selected_;
#pragma unroll
    for (std::uint32_t w = 0; w < EntryKey<T>::kWords; ++w) {
      std::uint32_t word = 0;
      each([&](EntryKey<T>& key, std::uint32_t row) {
        if ((among >> row & 1) != 0 && key.words[w] > word) word = key.words[w];
      });
      last.words[w] = max_of_warp(word);
      if (w + 1 == EntryKey<T>::kWords) break;
      each([&](EntryKey<T>& key, std::uint32_t row) {
        if (key.words[w] != last.words[w]) among &= ~(1u << row);
      });
    }
    return last;
  }

 private:
  static constexpr std::uint32_t kGroup = 4;  ///< rows between two checks whether there are more

  template <typename Visit>
  __device__ __forceinline__ void each(Visit&& visit) {
#pragma unroll
    for (std::uint32_t group = 0; group < kRows; group += kGroup) {
      if (group >= rows_) break;
#pragma unroll
      for (std::uint32_t row = group; row < group + kGroup; ++row) visit(keys_[row], row);
    }
  }

  /// Finds a bound that `need` keys do not exceed, of those whose words before kWord are the bound's; or all, if they
  /// are fewer. The words of the bound from kWord on have all bits set before.
  template <std::uint32_t kWord>
  __device__ __forceinline__ void narrow(std::uint32_t need, EntryKey<T>& bound) {
    std::uint32_t low = kAllBits, high = 0;
    each([&](EntryKey<T>& key, std::uint32_t) {
      const std::uint32_t word = key.words[kWord];
      if (!begin_alike<kWord>(key, bound)) return;
      low = word < low ? word : low;
      const std::uint32_t raised = kWord == 0 ? word + 1 : word;  // none becomes 0
      high = raised > high ? raised : high;
    });
    low = min_of_warp(low);
    high = max_of_warp(high);
    if (kWord == 0) {
      if (high == 0) return void(bound.words[kWord] = 0);  // there is nothing but none
      --high;
    }
    std::uint32_t span = high - low;
    for (;;) {
      const std::uint32_t shift = span < kBins ? 0 : kWarp - leading_zeros(span) - kBinBits;
      each([&](EntryKey<T>& key, std::uint32_t) {
        const std::uint32_t above = key.words[kWord] - low;
        if (begin_alike<kWord>(key, bound) && above <= span) atomic_add(bins() + (above >> shift), 1u);
      });
      sync_warp();
      const Bin found = find_bin(need);
      if (found.inside == 0) return void(bound.words[kWord] = high);
      low += found.number << shift;
      span -= found.number << shift;
      const std::uint32_t width = (1u << shift) - 1;
      span = width < span ? width : span;
      need -= found.before;
      if (found.inside == need) return void(bound.words[kWord] = low + span);
      if (shift == 0) break;
    }
    bound.words[kWord] = low;
    if constexpr (kWord + 1 < EntryKey<T>::kWords) narrow<kWord + 1>(need, bound);
  }

  struct Bin {
    std::uint32_t number, before, inside;  ///< inside: 0 if all bins together have less
  };

  /// The bin with the `need`-th, how many are before it and inside. Clears all bins.
  __device__ __forceinline__ Bin find_bin(std::uint32_t need) {
    struct alignas(16) FourBins {
      std::uint32_t counts[4];
    };
    static_assert(kBins == 4 * kWarp);
    FourBins* own = reinterpret_cast<FourBins*>(bins()) + lane_number();
    const FourBins held = *own;
    *own = FourBins{{0, 0, 0, 0}};
    std::uint32_t ends[4];
    ends[0] = held.counts[0];
#pragma unroll
    for (std::uint32_t i = 1; i < 4; ++i) ends[i] = ends[i - 1] + held.counts[i];
    const std::uint32_t up_to = sum_up_to_lane(ends[3]);
    std::uint32_t number = 0, before = up_to - ends[3], inside = held.counts[0];
#pragma unroll
    for (std::uint32_t i = 0; i < 3; ++i) {
      if (up_to - ends[3] + ends[i] >= need) break;
      number = i + 1;
      before = up_to - ends[3] + ends[i];
      inside = held.counts[i + 1];
    }
    const std::uint32_t reach = ballot(up_to >= need);
    sync_warp();  // before the next keys are counted
    if (reach == 0) return {0, 0, 0};
    const std::uint32_t lane = lowest_bit(reach);
    static_assert(kMost < 1 << 12);
    const std::uint32_t packed = shuffle(number << 24 | before << 12 | inside, lane);
    return {lane * 4 + (packed >> 24), packed >> 12 & 0xfff, packed & 0xfff};
  }

  __device__ __forceinline__ static std::uint32_t* bins() {
    return reinterpret_cast<std::uint32_t*>(shared_memory()) + warp_number() * kBins;
  }

  EntryKey<T> keys_[kRows];
  std::uint32_t rows_ = 0;
  std::uint32_t selected_ = 0;  ///< a bit for each row of this lane
  std::uint32_t before_ = 0;    ///< how many the lanes before have selected
};

}  // namespace kith::cuda
