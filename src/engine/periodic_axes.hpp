// Periodic axes: the check of points, the wrapping of queries.
#pragma once

#include "core/query_row.hpp"
#include "engine/validate.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::engine {

/// Throws BadData unless every coordinate of the clean rows lies in [0, length). `rows` lie side by side; `clean` tells
/// their numbers in the caller's array.
template <typename T>
void require_inside_period(const T* rows, std::uint64_t count, const std::vector<T>& lengths, const CleanRows& clean,
                           int threads);

/// `lengths` are those of `core::period_lengths` as doubles; none leave the row as it is.
template <typename T>
void wrap_row(T* row, std::span<const double> lengths) {
  for (std::size_t d = 0; d < lengths.size(); ++d) row[d] = core::wrapped(row[d], static_cast<T>(lengths[d]));
}

}  // namespace kith::engine
