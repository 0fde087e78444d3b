// Rows of a caller as a searcher wants them: only good ones, mapped or wrapped where the index says so.
#pragma once

#include "core/metric/row_map.hpp"
#include "engine/periodic_axes.hpp"
#include "engine/validate.hpp"
#include "runtime/parallel.hpp"

#include <kith/point_set.hpp>
#include <kith/point_view.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

namespace kith::engine {

/// Host rows ready for a searcher: the caller's own where possible, else a clean copy.
template <typename T>
struct PreparedRows {
  PointSet copy;  // unused while `rows` points to the caller's memory
  const T* rows = nullptr;
  std::int64_t row_stride = 0;
  std::uint64_t count = 0;
  CleanRows clean;
};

/// What is to be done with rows.
struct RowRules {
  std::string_view what;  ///< "points" or "queries", for messages
  core::RowMap map;       ///< what becomes of each
  bool skip_nonfinite = false;
  bool side_by_side = false;             ///< without gaps between the rows
  std::span<const double> wrap_to = {};  ///< lengths of periodic axes into which rows are wrapped
  int threads = 0;
};

template <typename T>
PreparedRows<T> prepare_rows(PointView view, const RowRules& rules) {
  constexpr std::uint64_t kRowsPerBlock = 4096;
  PreparedRows<T> prepared;
  prepared.clean = find_clean_rows(view, rules.what, rules.map, rules.skip_nonfinite, rules.threads);
  const std::uint32_t dims = rules.map.searched_dims();
  const bool has_gaps = view.row_stride() != static_cast<std::int64_t>(view.dims());
  if (prepared.clean.all_clean && rules.map.is_plain() && rules.wrap_to.empty() && !(rules.side_by_side && has_gaps)) {
    prepared.rows = view.row<T>(0);
    prepared.row_stride = view.row_stride();
    prepared.count = view.rows();
    return prepared;
  }
  prepared.count = prepared.clean.all_clean ? view.rows() : prepared.clean.rows.size();
  prepared.copy = PointSet(view.dtype(), prepared.count, dims);
  T* to = prepared.copy.template values<T>().data();
  const std::uint64_t blocks = (prepared.count + kRowsPerBlock - 1) / kRowsPerBlock;
  runtime::parallel_for(blocks, {.threads = rules.threads}, [&](std::uint64_t block) {
    const std::uint64_t end = std::min(prepared.count, (block + 1) * kRowsPerBlock);
    for (std::uint64_t i = block * kRowsPerBlock; i < end; ++i) {
      T* row = to + i * dims;
      rules.map.apply(view.row<T>(prepared.clean.all_clean ? i : prepared.clean.rows[i]), row);
      wrap_row(row, rules.wrap_to);
    }
  });
  prepared.rows = to;
  prepared.row_stride = dims;
  return prepared;
}

}  // namespace kith::engine
