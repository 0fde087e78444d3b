// Unit vectors for the cosine metric.
#pragma once

#include "core/arithmetic.hpp"

#include <cstdint>

namespace kith::engine {

/// Divides a row by the square root of its own chain, coordinate by coordinate.
template <typename T>
void normalize_row(T* row, std::uint32_t dims) {
  T length = 0;
  for (std::uint32_t d = 0; d < dims; ++d) length = core::fused_multiply_add(row[d], row[d], length);
  length = core::square_root(length);
  for (std::uint32_t d = 0; d < dims; ++d) row[d] /= length;
}

}  // namespace kith::engine
