// Sequences as searchers want them: items side by side.
#pragma once

#include <cstdint>
#include <span>

namespace kith::engine {

/// Sequence i is items[offsets[i] .. offsets[i + 1]). Sets are ascending and without duplicates.
struct SequenceRows {
  const std::uint32_t* items = nullptr;
  const std::uint64_t* offsets = nullptr;  ///< count + 1, ascending
  std::uint64_t count = 0;

  std::uint64_t length(std::uint64_t i) const { return offsets[i + 1] - offsets[i]; }
  std::span<const std::uint32_t> row(std::uint64_t i) const {
    return {items + offsets[i], static_cast<std::size_t>(length(i))};
  }
};

}  // namespace kith::engine
