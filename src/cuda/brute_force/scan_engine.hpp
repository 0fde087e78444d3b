// Points of brute force in the memory of a GPU, as searches ask them.
#pragma once

#include "cuda/brute_force/scan/scan_search.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/queries/search_engine.hpp"

#include <kith/metric.hpp>

#include <cstdint>

namespace kith::cuda {

/// Up to how many of `most_dims` dims the product filter fits where a block may have `shared_limit` bytes of shared
/// memory; 0: for none. All pairs are measured by scans else.
std::uint32_t most_filtered_dims(std::uint32_t shared_limit, std::uint32_t most_dims);

/// Owns rows of points in the order of their numbers and, where the product filter pays, what it needs.
template <typename T>
class ScanEngine final : public SearchEngine<T> {
 public:
  /// Takes rows that are there, or will be when the work in the stream is done.
  ScanEngine(DeviceBuffer<T> rows, std::uint64_t points, std::uint32_t dims, Metric metric, bool is_periodic,
             const Stream& stream);

  std::uint64_t points() const override { return scanned_.points.count; }
  std::uint32_t dims() const override { return scanned_.points.dims; }
  const T* rows() const { return rows_.data(); }
  bool has_filter() const { return scanned_.product.values != nullptr; }
  std::uint64_t memory_bytes() const {
    return rows_.bytes() + halves_.bytes() + terms_.bytes() + scales_.bytes() + centre_.bytes() +
           half_sum_values_.bytes() + half_sum_terms_.bytes() + half_sum_scale_.bytes();
  }

  void knn(const KnnRequest<T>& request, const engine::KnnRules<T>& rules, std::uint8_t* exact,
           const Stream& stream) const override;
  void count(const RadiusRequest<T>& request, const Stream& stream) const override {
    scan_count(scanned_, request, stream);
  }
  void list(const RadiusRequest<T>& request, const Stream& stream) const override {
    scan_list(scanned_, request, stream);
  }
  void count_in_boxes(const BoxRequest<T>& request, const Stream& stream) const override {
    scan_in_boxes(scanned_, request, false, stream);
  }
  void list_in_boxes(const BoxRequest<T>& request, const Stream& stream) const override {
    scan_in_boxes(scanned_, request, true, stream);
  }
  std::string explain(const engine::SearchShape& shape, const SearchMetric<T>& metric) const override;
  bool wants_order() const override { return false; }
  void order_queries(const T*, std::uint64_t, std::uint64_t, std::uint32_t*, const Stream&) const override {}
  bool wants_chosen() const override { return false; }
  void choose_points(std::uint32_t, std::uint32_t, std::uint32_t*, std::uint32_t*, const Stream&) const override {}

 private:
  DeviceBuffer<T> rows_;
  const char* no_products_;  ///< why the filter does not apply; null: it does
  DeviceBuffer<std::uint16_t> halves_;
  DeviceBuffer<float> terms_, scales_, centre_;
  DeviceBuffer<std::uint16_t> half_sum_values_, half_sum_terms_;  // empty: that filter is not used
  DeviceBuffer<float> half_sum_scale_;
  ScannedPoints<T> scanned_;
};

}  // namespace kith::cuda
