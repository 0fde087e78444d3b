// What the points of brute force take of a GPU's memory, and how many go there at a time if that is too much.
#pragma once

#include "core/metric/metrics.hpp"
#include "cuda/brute_force/filter/half_sum_types.hpp"
#include "cuda/brute_force/filter/product_types.hpp"
#include "cuda/brute_force/tuning.hpp"

#include <kith/metric.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace kith::cuda {

/// Why tensor cores do not filter, for people; null: they do.
template <typename T>
const char* why_no_products(std::uint64_t points, std::uint32_t dims, Metric metric, bool is_periodic) {
  static_assert(kFewestDimsForProducts == 5, "the words below say so");
  if (!std::is_same_v<T, float>) return "it is for f32";
  if (core::kind_of_reduction(metric) != Metric::Kind::l2 || is_periodic) return "it is for L2 without periodic axes";
  if (dims < kFewestDimsForProducts) return "it pays from 5 dims on";
  return points < kFewestPointsForProducts ? "there are too few points" : nullptr;
}
/// Their rows and what the filter needs.
template <typename T>
std::uint64_t scan_bytes(std::uint64_t points, std::uint32_t dims, Metric metric, bool is_periodic) {
  std::uint64_t bytes = points * dims * sizeof(T);
  if (why_no_products<T>(points, dims, metric, is_periodic) == nullptr) {
    const std::uint64_t per_row = 2 * product_padded_dims(dims);
    bytes += padded_product_rows(points) * (per_row + 2 * sizeof(float)) + dims * sizeof(float);
    if (has_half_sums(dims)) bytes += padded_product_rows(points) * (per_row + 4) + sizeof(float);
  }
  return bytes;
}

/// How many points a part may have, if all of them are too many for `free` bytes: half of the memory is for queries and
/// candidates. 0: they are not.
template <typename T>
std::uint64_t rows_of_part(std::uint64_t points, std::uint32_t dims, Metric metric, bool is_periodic,
                           std::uint64_t free) {
  if (scan_bytes<T>(points, dims, metric, is_periodic) <= free) return 0;
  constexpr std::uint64_t kSample = std::uint64_t{1} << 20;
  const std::uint64_t per_sample = scan_bytes<T>(kSample, dims, metric, is_periodic);
  return std::max<std::uint64_t>(free / 2 / (per_sample / kSample + 1), 1);
}

}  // namespace kith::cuda
