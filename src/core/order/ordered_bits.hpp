// Distances as whole numbers of the same order, and (distance, index) packed into one such number.
#pragma once

#include "core/host_device.hpp"

#include <bit>
#include <cstdint>

namespace kith::core {

/// The bits of a reduced distance, made to order like the distances: the sign of those that are not negative is set,
/// negative ones are turned around. No distance is -0 or NaN, so no distance has all bits set.
KITH_HOST_DEVICE inline std::uint32_t ordered_bits(float distance) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(distance);
  return bits ^ (static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 31) | 0x80000000u);
}
KITH_HOST_DEVICE inline std::uint64_t ordered_bits(double distance) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(distance);
  return bits ^ (static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> 63) | std::uint64_t{1} << 63);
}
/// The reverse of `ordered_bits`.
KITH_HOST_DEVICE inline float distance_of_bits(std::uint32_t ordered) {
  const std::uint32_t is_negative = ~static_cast<std::uint32_t>(static_cast<std::int32_t>(ordered) >> 31);
  return std::bit_cast<float>(ordered ^ (is_negative | 0x80000000u));
}
KITH_HOST_DEVICE inline double distance_of_bits(std::uint64_t ordered) {
  const std::uint64_t is_negative = ~static_cast<std::uint64_t>(static_cast<std::int64_t>(ordered) >> 63);
  return std::bit_cast<double>(ordered ^ (is_negative | std::uint64_t{1} << 63));
}

/// A pair as one number: the bits of the distance above the index.
KITH_HOST_DEVICE inline std::uint64_t packed_pair(std::uint32_t distance_bits, std::uint32_t index) {
  return std::uint64_t{distance_bits} << 32 | index;
}
KITH_HOST_DEVICE inline std::uint32_t distance_bits_of(std::uint64_t packed) {
  return static_cast<std::uint32_t>(packed >> 32);
}
KITH_HOST_DEVICE inline std::uint32_t index_of(std::uint64_t packed) { return static_cast<std::uint32_t>(packed); }

}  // namespace kith::core
