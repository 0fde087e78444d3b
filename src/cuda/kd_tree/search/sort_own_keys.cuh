// A list of up to 64 keys sorted by one lane, as far as its first 32 go: 32 lanes sort 32 lists side by side, which
// takes a third of the instructions that it takes them to sort one after the other together.
#pragma once

#include "cuda/kd_tree/search/sorting_network.cuh"

namespace kith::cuda {

/// The most keys of a list, and how many of them come out.
inline constexpr std::uint32_t kMostOwnKeys = 64, kLeastOwnKeys = 32;

/// Puts what `key(i)` gives for each i from kFirst on into keys; `most` is the longest list of the warp. A few
/// together: all that is read is on its way before the first is used.
template <std::uint32_t kFirst, typename Keys>
__device__ __forceinline__ void make_own_keys(std::uint32_t most, std::uint32_t (&keys)[kLeastOwnKeys],
                                              const Keys& make) {
  constexpr std::uint32_t kTogether = 8;
#pragma unroll
  for (std::uint32_t i = 0; i < kLeastOwnKeys; i += kTogether) {
    std::uint32_t few[kTogether];
    make(kFirst + i, kFirst + i < most, few);
#pragma unroll
    for (std::uint32_t j = 0; j < kTogether; ++j) keys[i + j] = few[j];
  }
}

/// `make(first, is_any, few)` makes some keys of the list from number `first` on; unless is_any no list has any there.
template <typename Keys>
__device__ __forceinline__ void sort_own_keys(std::uint32_t most, std::uint32_t (&keys)[kLeastOwnKeys],
                                              const Keys& make) {
  make_own_keys<0>(most, keys, make);
  sort_in_registers(keys);
  if (most <= kLeastOwnKeys) return;
  std::uint32_t others[kLeastOwnKeys];
  make_own_keys<kLeastOwnKeys>(most, others, make);
  sort_in_registers(others);
  merge_in_registers(keys, others);
}

}  // namespace kith::cuda
