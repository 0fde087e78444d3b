// The default leaf size of a k-d tree. The same on every device: the files are the same too.
#pragma once

#include <cstdint>

namespace kith::engine {

/// The most points of a leaf that search well: measured at sizes with fuller and emptier leaves, k = 1 to 16.
constexpr std::uint32_t default_leaf_size(std::uint32_t dims) {
  if (dims <= 3) return 24;
  if (dims == 4) return 32;
  return dims <= 6 ? 64 : 128;
}

/// What the caller asked for, or the default for 0.
inline std::uint32_t leaf_size_of(std::uint32_t wanted, std::uint32_t dims) {
  return wanted == 0 ? default_leaf_size(dims) : wanted;
}

}  // namespace kith::engine
