// The filters of a search in the numbers of the clean points.
#pragma once

#include "engine/index_state.hpp"
#include "engine/searcher.hpp"

#include <kith/index.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kith::engine {

/// A PointFilter, and the translated arrays that it points to, if rows were left out. Moves, never copies: the filter
/// points into its own arrays, whose memory moves along.
struct CleanFilter {
  PointFilter filter;
  std::vector<std::uint64_t> allowed;
  std::vector<std::uint32_t> below;

  CleanFilter() = default;
  CleanFilter(const CleanFilter&) = delete;
  CleanFilter& operator=(const CleanFilter&) = delete;
  CleanFilter(CleanFilter&&) = default;
  CleanFilter& operator=(CleanFilter&&) = default;
};

/// Points to the caller's own arrays, without a copy, where no rows were left out. `answers` are the caller's rows of
/// the queries, if some were left out; empty if none was. Throws OutOfMemory.
CleanFilter make_clean_filter(const IndexState& state, const SearchOptions& options,
                              std::span<const std::uint64_t> answers);

/// How many clean points have a number below `index` in the caller's numbering.
std::uint32_t clean_points_below(const IndexState& state, std::uint32_t index);

}  // namespace kith::engine
