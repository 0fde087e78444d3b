// Equal rows on a GPU: what the kernels get, and how keys are made.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace kith::cuda {

/// Which rows are compared, and which of equal ones is kept.
template <typename T>
struct EqualTask {
  const T* rows = nullptr;
  std::uint64_t row_stride = 0;  ///< at least dims
  std::uint32_t count = 0;
  std::uint32_t dims = 0;
  const double* scores = nullptr;               ///< one per row, or null: the lowest number is kept
  bool prefer_low = false;                      ///< the lowest score is kept, not the highest
  std::uint64_t hash_mask = ~std::uint64_t{0};  ///< bits of the hash that count; tests make rows collide
};

/// What the GPU reports to the host. Begins as 0.
struct EqualReport {
  std::uint32_t bad = 0;             ///< rows with NaN or infinity, or with a score that is NaN
  std::uint32_t first_bad_bits = 0;  ///< all bits of the number of the first one, inverted
  std::uint32_t mixed = 0;           ///< not 0: rows with equal keys are not all equal
  std::uint32_t kept = 0;
  std::uint32_t sorts = 0;  ///< set by the host: 1, 2 with all bits of the keys, 3 with coordinates

  std::uint32_t first_bad() const { return ~first_bad_bits; }
};

/// The key of a row that cannot be used; others have the highest bit clear.
inline constexpr std::uint64_t kBadKey = ~std::uint64_t{0};

/// How many of the highest bits of keys are sorted, a multiple of what a pass of the sort takes. The probability that
/// two of n different rows share them is about n^2 / 2^bits: less than 1 in 128 per call, unless there are more than
/// 2^28 rows.
inline std::uint32_t sorted_bits(std::uint32_t count) {
  constexpr std::uint32_t kPassBits = 8, kSpareBits = 8;
  const auto bits = 2 * static_cast<std::uint32_t>(std::bit_width(count - 1)) + kSpareBits;
  return std::min(64u, (bits + kPassBits - 1) / kPassBits * kPassBits);
}

}  // namespace kith::cuda
