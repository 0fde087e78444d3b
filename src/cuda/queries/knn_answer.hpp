// Where the answers of a kNN search go, and in which form. Plain data, for host and device; all arrays are in device
// memory.
#pragma once

#include "core/host_device.hpp"

#include <cstdint>

namespace kith::cuda {

/// Entries of all rows, one after the other: reduced distances and 32-bit numbers, as searches compare them, or what a
/// caller sees.
template <typename T>
struct KnnAnswer {
  std::uint32_t* indices = nullptr;
  T* reduced = nullptr;

  bool is_reported = false;      ///< what follows holds
  bool takes_roots = false;      ///< square roots of reduced distances are written: distances under L2
  std::int64_t* wide = nullptr;  ///< if not null, numbers go there instead of to `indices`

  /// Whether all arrays begin where 16 bytes can be written at a time.
  KITH_HOST_DEVICE bool lies_well() const {
    const auto numbers =
        wide != nullptr ? reinterpret_cast<std::uintptr_t>(wide) : reinterpret_cast<std::uintptr_t>(indices);
    return (numbers | reinterpret_cast<std::uintptr_t>(reduced)) % 16 == 0;
  }

  /// The same from entry `at` on.
  KITH_HOST_DEVICE KnnAnswer from(std::uint64_t at) const {
    return {indices == nullptr ? nullptr : indices + at, reduced + at, is_reported, takes_roots,
            wide == nullptr ? nullptr : wide + at};
  }
};

}  // namespace kith::cuda
