// A candidate in as few words as it takes, for lists that are sorted and selected from.
#pragma once

#include "core/host_device.hpp"
#include "core/order/ordered_bits.hpp"

#include <cstdint>
#include <limits>

namespace kith::cuda {

/// A candidate: ordered by (reduced distance, number). With f32 it is one word.
template <typename T>
struct Entry;

template <>
struct Entry<float> {
  std::uint64_t word = ~std::uint64_t{0};

  Entry() = default;
  KITH_HOST_DEVICE Entry(float reduced, std::uint32_t number)
      : word(core::packed_pair(core::ordered_bits(reduced), number)) {}
  KITH_HOST_DEVICE float reduced() const { return core::distance_of_bits(core::distance_bits_of(word)); }
  KITH_HOST_DEVICE std::uint32_t number() const { return core::index_of(word); }
  /// The sentinel: behind all others. Its reduced distance is NaN.
  KITH_HOST_DEVICE static Entry none() { return {}; }
  KITH_HOST_DEVICE bool is_none() const { return word == ~std::uint64_t{0}; }
  /// As a limit: nothing is less.
  KITH_HOST_DEVICE static Entry first() { return {-std::numeric_limits<float>::infinity(), 0}; }
  KITH_HOST_DEVICE friend bool operator<(const Entry& a, const Entry& b) { return a.word < b.word; }
  KITH_HOST_DEVICE friend bool operator==(const Entry& a, const Entry& b) { return a.word == b.word; }
};

template <>
struct alignas(16) Entry<double> {
  std::uint64_t high = ~std::uint64_t{0};  ///< ordered bits of the reduced distance
  std::uint64_t low = ~std::uint64_t{0};   ///< the number

  Entry() = default;
  KITH_HOST_DEVICE Entry(double reduced, std::uint32_t number) : high(core::ordered_bits(reduced)), low(number) {}
  KITH_HOST_DEVICE double reduced() const { return core::distance_of_bits(high); }
  KITH_HOST_DEVICE std::uint32_t number() const { return static_cast<std::uint32_t>(low); }
  KITH_HOST_DEVICE static Entry none() { return {}; }
  KITH_HOST_DEVICE bool is_none() const { return high == ~std::uint64_t{0}; }
  KITH_HOST_DEVICE static Entry first() { return {-std::numeric_limits<double>::infinity(), 0}; }
  KITH_HOST_DEVICE friend bool operator<(const Entry& a, const Entry& b) {
    return a.high < b.high || (a.high == b.high && a.low < b.low);
  }
  KITH_HOST_DEVICE friend bool operator==(const Entry& a, const Entry& b) { return a.high == b.high && a.low == b.low; }
};

}  // namespace kith::cuda
