// Sequences as engines want them: lists of items side by side.
#pragma once

#include <cstdint>
#include <span>

namespace kith::engine {

/// Lists of numbers, which stand for letters, tokens or members of sets. A view.
struct SequenceRows {
  const std::uint32_t* items = nullptr;
  const std::uint64_t* offsets = nullptr;  ///< count + 1; list i is items[offsets[i] .. offsets[i + 1])
  std::uint64_t count = 0;

  std::span<const std::uint32_t> row(std::uint64_t i) const {
    return {items + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
};

}  // namespace kith::engine
