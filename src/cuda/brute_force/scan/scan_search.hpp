// Searches by scans of all points, with queries and answers in the memory of the GPU. Each call puts kernels into a
// stream and does not wait for them; the memory that they need on the way comes from the device's pool.
//
// | call  | bytes it takes besides its arguments                                                                      |
// |-------|-----------------------------------------------------------------------------------------------------------|
// | knn   | 8 (f32) or 16 per candidate, room for max(256, 6 k) of them per query, more if queries are few, for as    |
// |       | many queries at a time as 1 GiB holds; with the product filter 2 per coordinate of a query                |
// | list  | 4 per query                                                                                               |
// | count | none                                                                                                      |
// | boxes | 12 per box and piece of the points, if boxes are few                                                      |
#pragma once

#include "cuda/brute_force/scan/scanned_points.hpp"
#include "cuda/brute_force/select/select_strategy.hpp"
#include "cuda/queries/requests.hpp"
#include "cuda/runtime/stream.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// The k nearest of each query; k and the points are at least 1. Throws OutOfMemory, DeviceError, as all of these.
template <typename T>
void scan_knn(const ScannedPoints<T>& points, const KnnRequest<T>& request, SelectStrategy strategy,
              const Stream& stream);

/// Fills request.counts.
template <typename T>
void scan_count(const ScannedPoints<T>& points, const RadiusRequest<T>& request, const Stream& stream);
/// Fills the lists that begin at request.starts.
template <typename T>
void scan_list(const ScannedPoints<T>& points, const RadiusRequest<T>& request, const Stream& stream);

/// Fills request.counts, or the lists.
template <typename T>
void scan_in_boxes(const ScannedPoints<T>& points, const BoxRequest<T>& request, bool lists, const Stream& stream);

/// What a block of the product filter needs.
std::size_t product_filter_shared_bytes(std::uint32_t dims);
/// Where points are packed for the product filter and, unless its pointers are null, for that with sums in halves: room
/// for `padded_product_rows` rows.
struct PackedPointsMemory {
  std::uint16_t* values;
  float *terms, *scales, *centre;
  std::uint16_t *half_sum_values, *half_sum_terms;
  float* half_sum_scale;
};
void pack_points(const ScanPoints<float>& points, const PackedPointsMemory& memory, const Stream& stream);

}  // namespace kith::cuda
