// The numbers of brute force on the CPU that several files rely on.
#pragma once

#include <cstdint>

namespace kith::cpu {

/// Queries are packed in groups of this many: [group][dimension][query].
inline constexpr std::uint32_t kGroup = 4;
/// The most groups of one scan.
inline constexpr std::uint32_t kMostGroups = 64;
/// The most points side by side: a hit of each is a bit of a word.
inline constexpr std::uint32_t kWidestPanel = 64;
/// Rows of bits lie in panels of this many: [panel][word][row]. A vector of any machine is some of a panel or all of
/// it.
inline constexpr std::uint32_t kBitPanel = 8;
static_assert(kBitPanel <= kWidestPanel && kWidestPanel <= 64, "hits are bits of a word");

}  // namespace kith::cpu
