// Points and queries in the order in which the scan reads them.
#pragma once

#include "cpu/brute_force/product_filter.hpp"

#include <kith/metric.hpp>
#include <kith/point_set.hpp>

#include <cstdint>
#include <vector>

namespace kith::cpu {

/// Why products do not filter the pairs of such points, for people; null: they do.
const char* why_no_filter(Metric metric, bool is_periodic);

/// Points in panels of `width`, coordinate by coordinate; for L2 also the copy in f32 with the terms of the
/// product filter, unless axes are periodic: the product form knows no way around.
///
/// bytes per point: dims * sizeof(T) (any metric), and 4 * dims + 4 for the filter, which is f32 (L2)
template <typename T>
class PackedPoints {
 public:
  /// Copies count x dims coordinates that lie side by side. Throws OutOfMemory.
  PackedPoints(const T* rows, std::uint64_t count, std::uint32_t dims, Metric metric, bool is_periodic, int threads);

  /// What memory_bytes() of such points will be.
  static std::uint64_t bytes_of(std::uint64_t count, std::uint32_t dims, Metric metric, bool is_periodic);

  std::uint64_t count() const { return count_; }
  std::uint32_t dims() const { return dims_; }
  std::uint32_t width() const { return width_; }
  std::uint64_t panels() const { return (count_ + width_ - 1) / width_; }
  bool has_filter() const { return has_filter_; }
  std::uint64_t memory_bytes() const { return panels_.bytes() + centred_.bytes() + terms_.bytes(); }

  const T* panel_values() const { return panels_.template values<T>().data(); }
  const float* centred_values() const { return centred_.values<float>().data(); }
  const float* terms() const { return terms_.values<float>().data(); }
  const std::vector<double>& centre() const { return centre_; }
  const FilterUnits& units() const { return units_; }
  /// Copies point i to dims values that lie `stride` apart.
  void unpack(std::uint64_t i, T* out, std::uint32_t stride) const;
  /// Copies all points, count x dims, in their order.
  void unpack_all(T* rows, int threads) const;

 private:
  void find_centre(const T* rows, int threads);
  void pack_panel(const T* rows, std::uint64_t panel);
  void centre_panel(std::uint64_t panel);

  std::uint64_t count_;
  std::uint32_t dims_;
  std::uint32_t width_;
  bool has_filter_;
  std::vector<double> centre_;
  FilterUnits units_;
  PointSet panels_;   // panels * dims rows of `width`
  PointSet centred_;  // the same in f32, if has_filter_
  PointSet terms_;    // one per point, padded
};

/// A block of queries in groups of kGroup, with bounds; the last group is padded with queries that find nothing.
template <typename T>
class PackedQueries {
 public:
  /// Room for `queries` queries.
  PackedQueries(const PackedPoints<T>& points, std::uint32_t queries);

  /// Prepares `count` queries; `copy_row(i, out, stride)` must write query i, whose bound starts at `bound_of(i)`.
  template <typename BoundOf, typename CopyRow>
  void pack(std::uint32_t count, BoundOf&& bound_of, CopyRow&& copy_row) {
    start(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      bounds_[i] = bound_of(i);
      if (dims_ > 0) copy_row(i, place_of(i), kGroup);
    }
    finish();
  }

  /// Brings the filter's bounds up to date with bounds that fell while the filter was not used.
  void refresh_filter_bounds();

  std::uint32_t groups() const { return groups_; }
  T* bounds() { return bounds_.data(); }
  float* filter_bounds() { return filter_bounds_.data(); }
  const T* values() const { return values_.data(); }
  const float* centred() const { return centred_.data(); }
  const double* terms() const { return terms_.data(); }

 private:
  void start(std::uint32_t count);
  void finish();
  T* place_of(std::uint32_t query) { return &values_[(std::size_t{query / kGroup} * dims_) * kGroup + query % kGroup]; }

  const PackedPoints<T>& points_;
  std::uint32_t dims_;
  std::uint32_t count_ = 0;
  std::uint32_t groups_ = 0;
  std::vector<T> values_;       // [group][dimension][kGroup]
  std::vector<float> centred_;  // -2 (query - centre) * scale
  std::vector<double> terms_;
  std::vector<T> bounds_;
  std::vector<float> filter_bounds_;
};

}  // namespace kith::cpu
