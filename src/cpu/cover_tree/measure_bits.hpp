// The inner loop of the Hamming distance of bits: one query against rows in blocks, SIMD across the rows.
#pragma once

#include "cpu/cover_tree/tuning.hpp"

#include <cstdint>

namespace kith::cpu {

/// The distances of `count` rows from `first` on. In place of one above the limit any other above it may come.
void measure_bits(const std::uint64_t* blocks, std::uint32_t words, const std::uint64_t* query, std::uint32_t first,
                  std::uint32_t count, float limit, float* values);

}  // namespace kith::cpu
