// Queries and answers of callers whose arrays lie on the GPU: made ready for a search, and turned into what is
// reported.
#pragma once

#include "core/metric/row_map.hpp"
#include "cuda/queries/knn_answer.hpp"

#include <kith/metric.hpp>

#include <cstdint>

namespace kith::cuda {

/// Rows of a caller become rows of a search: side by side, mapped or wrapped where the index says so. A row that
/// the map does not take becomes zeros, and its bound -1, as that of a radius which is none.
template <typename T>
struct PrepareTask {
  const T* rows = nullptr;  ///< null: the bounds only
  std::uint64_t row_stride = 0;
  std::uint64_t count = 0;
  core::RowMap map = {};       ///< its values are in device memory
  const T* lengths = nullptr;  ///< of periodic axes; null: plain axes
  T bound = 0;
  const double* radii = nullptr;  ///< if not null, bounds are made of these instead, as the metric says
  Metric metric = {};
  std::uint32_t bits = 0;  ///< if not 0, rows are of so many bits, their stride is in bytes, and they become words
  T* prepared = nullptr;   ///< count x map.searched_dims(), or words of 32 bits, twice as many as of 64
  T* bounds = nullptr;     ///< per row
};

/// Reduced distances become reported ones, in place.
template <typename T>
struct ReportTask {
  Metric metric = {};
  bool squared = false;
  std::uint64_t entries = 0;
  const std::uint64_t* entries_on_device = nullptr;  ///< how many, if only the device knows
  T* distances = nullptr;
};

/// Rows whose bound is below 0 become empty.
template <typename T>
struct EmptyTask {
  const T* bounds = nullptr;
  std::uint64_t rows = 0;
  std::uint32_t k = 0;
  KnnAnswer<T> answer;
  std::uint32_t missing = 0;
  std::uint8_t* exact = nullptr;  ///< if not null, becomes 1 for these rows
};

}  // namespace kith::cuda
