// The inner loops of brute force: groups of queries against panels of points, SIMD across the points.
#pragma once

#include "cpu/brute_force/product_filter.hpp"
#include "cpu/brute_force/tuning.hpp"

#include <kith/metric.hpp>

#include <cstdint>

namespace kith::cpu {

/// Told that some points are within a query's bound: bit i of `hits` stands for the point first_point + i at
/// reduced[i]. Returns the query's new bound. Panels are padded: points past the end must be ignored.
template <typename T>
using HitFunction = T (*)(void* context, std::uint32_t query, std::uint64_t first_point, const T* reduced,
                          std::uint64_t hits);

/// One call of the scan: every query of `groups` against every point of the panels [first_panel, first_panel + panels).
/// A point is reported when reduced distance <= bounds[query]; bounds only ever fall.
template <typename T>
struct Scan {
  Metric metric;
  std::uint32_t dims = 0;
  const T* lengths = nullptr;  ///< per dimension, of periodic axes, infinity where one does not wrap; null: none does

  const T* panels = nullptr;  ///< [panel][dimension][width]: the points as they are
  std::uint64_t first_panel = 0;
  std::uint64_t panel_count = 0;

  const T* queries = nullptr;  ///< [group][dimension][kGroup]
  std::uint32_t groups = 0;
  T* bounds = nullptr;  ///< per query

  /// L2 without periodic axes only; null scans without the product filter (see product_filter.hpp).
  const float* centred_panels = nullptr;   ///< like `panels`, centred and scaled
  const float* point_terms = nullptr;      ///< per point, panels padded
  const float* centred_queries = nullptr;  ///< like `queries`, times -2
  const double* query_terms = nullptr;     ///< per query
  FilterUnits units;
  float* filter_bounds = nullptr;  ///< per query, of bound and term

  HitFunction<T> on_hit = nullptr;
  void* context = nullptr;
};

/// The points of one panel on this machine, whatever their type: a few vectors' worth of f32.
std::uint32_t panel_width();

/// Returns how many (query, panel) pairs the filter let through, to tell whether it pays; 0 without a filter. Parts of
/// panels count as such.
template <typename T>
std::uint64_t scan_panels(const Scan<T>& scan);

}  // namespace kith::cpu
