// The numbers of the cover tree on the CPU that several files rely on.
#pragma once

#include <cstdint>

namespace kith::cpu {

/// So many objects are measured with others at once, see `MeasuresFew`.
inline constexpr std::uint32_t kFew = 8;
/// So many rows lie side by side in a block, a cache line of each dimension: [block][dimension][row].
template <typename T>
inline constexpr std::uint32_t kVectorBlock = 64 / sizeof(T);
/// The same of rows of bits: [block][word][row].
inline constexpr std::uint32_t kBitBlock = 64 / sizeof(std::uint64_t);

/// From this many dimensions on it pays to look now and then whether all rows or pairs are beyond their limits.
inline constexpr std::uint32_t kLongReduced = 64;
inline constexpr std::uint32_t kDimsBetweenLooks = 32;
static_assert(kDimsBetweenLooks < kLongReduced, "else no row is looked at before its end");

}  // namespace kith::cpu
