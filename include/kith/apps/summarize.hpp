// What a set of points is like: bounds, duplicates, bad values.
#pragma once

#include <kith/point_view.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <vector>

namespace kith::apps::inline v0 {

struct Summary {
  std::uint64_t points = 0;
  std::uint32_t dims = 0;
  DType dtype = DType::f32;
  std::uint64_t nonfinite = 0;   ///< rows that hold NaN or infinity
  std::uint64_t duplicates = 0;  ///< finite rows equal to an earlier one (-0 equals +0)
  std::vector<double> lower;     ///< per dimension over the finite rows; empty if there are none
  std::vector<double> upper;
  std::uint64_t bytes = 0;  ///< of the coordinates
};

struct SummarizeOptions {
  int threads = 0;  ///< 0 means all cores
  ProgressCallback progress = {};
};

/// O(n d) time and about 16 bytes per point of memory.
KITH_EXPORT Summary summarize(PointView points, const SummarizeOptions& options = {});

}  // namespace kith::apps::inline v0
