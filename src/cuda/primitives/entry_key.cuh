// An entry as kernels hold it in registers: words of 32 bits, the first of which counts most.
#pragma once

#include "cuda/primitives/entry.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

/// Of `none`, and of nothing else, all bits of the first word are set.
inline constexpr std::uint32_t kAllBits = 0xffffffff;

template <typename T>
struct EntryKey;

template <>
struct EntryKey<float> {
  static constexpr std::uint32_t kWords = 2;
  std::uint32_t words[kWords];

  EntryKey() = default;
  __device__ __forceinline__ explicit EntryKey(const Entry<float>& entry)
      : words{static_cast<std::uint32_t>(entry.word >> 32), static_cast<std::uint32_t>(entry.word)} {}
  __device__ __forceinline__ std::uint64_t whole() const { return std::uint64_t{words[0]} << 32 | words[1]; }
  __device__ __forceinline__ Entry<float> entry() const {
    Entry<float> entry;
    entry.word = whole();
    return entry;
  }
  __device__ __forceinline__ friend bool operator<(const EntryKey& a, const EntryKey& b) {
    return a.whole() < b.whole();
  }
};

template <>
struct EntryKey<double> {
  static constexpr std::uint32_t kWords = 3;
  std::uint32_t words[kWords];

  EntryKey() = default;
  __device__ __forceinline__ explicit EntryKey(const Entry<double>& entry)
      : words{static_cast<std::uint32_t>(entry.high >> 32), static_cast<std::uint32_t>(entry.high),
              static_cast<std::uint32_t>(entry.low)} {}
  __device__ __forceinline__ std::uint64_t high() const { return std::uint64_t{words[0]} << 32 | words[1]; }
  __device__ __forceinline__ Entry<double> entry() const {
    Entry<double> entry;
    entry.high = high();
    entry.low = words[2] == kAllBits ? ~std::uint64_t{0} : std::uint64_t{words[2]};
    return entry;
  }
  __device__ __forceinline__ friend bool operator<(const EntryKey& a, const EntryKey& b) {
    return a.high() < b.high() || (a.high() == b.high() && a.words[2] < b.words[2]);
  }
};

template <typename T>
__device__ __forceinline__ bool is_none(const EntryKey<T>& key) {
  return key.words[0] == kAllBits;
}

template <typename T>
__device__ __forceinline__ EntryKey<T> key_of_bits(std::uint32_t bits) {
  EntryKey<T> key;
#pragma unroll
  for (std::uint32_t w = 0; w < EntryKey<T>::kWords; ++w) key.words[w] = bits;
  return key;
}
template <typename T>
__device__ __forceinline__ EntryKey<T> key_of_none() {
  return key_of_bits<T>(kAllBits);
}

/// Whether the first kCount words, 0 to 2, are the same.
template <std::uint32_t kCount, typename T>
__device__ __forceinline__ bool begin_alike(const EntryKey<T>& a, const EntryKey<T>& b) {
  static_assert(kCount < 3);
  return (kCount < 1 || a.words[0] == b.words[0]) && (kCount < 2 || a.words[1] == b.words[1]);
}

/// Of a list of `count`; `none` behind its end.
template <typename T>
__device__ __forceinline__ EntryKey<T> load_key(const Entry<T>* list, std::uint32_t i, std::uint32_t count) {
  return i < count ? EntryKey<T>(list[i]) : key_of_none<T>();
}

template <typename T>
__device__ __forceinline__ EntryKey<T> key_of_lane_xor(const EntryKey<T>& key, std::uint32_t mask) {
  EntryKey<T> other;
#pragma unroll
  for (std::uint32_t w = 0; w < EntryKey<T>::kWords; ++w) other.words[w] = shuffle_xor(key.words[w], mask);
  return other;
}

/// The sum over this lane and those before it.
__device__ __forceinline__ std::uint32_t sum_up_to_lane(std::uint32_t value) {
#pragma unroll
  for (std::uint32_t delta = 1; delta < kWarp; delta *= 2) {
    const std::uint32_t before = shuffle_up(value, delta);
    if (lane_number() >= delta) value += before;
  }
  return value;
}

}  // namespace kith::cuda
