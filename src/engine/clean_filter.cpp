// See clean_filter.hpp.
#include "engine/clean_filter.hpp"

#include <algorithm>

namespace kith::engine {

std::uint32_t clean_points_below(const IndexState& state, std::uint32_t index) {
  if (state.original.empty()) return state.left_out_rows() ? 0 : index;
  return static_cast<std::uint32_t>(std::lower_bound(state.original.begin(), state.original.end(), index) -
                                    state.original.begin());
}

CleanFilter::CleanFilter(const IndexState& state, const SearchOptions& options, std::span<const std::uint64_t> answers)
    : filter{.exclude_self = options.exclude_self, .earlier_only = options.earlier_only} {
  if (!options.allowed.empty()) {
    filter.allowed = options.allowed.data();
    if (state.left_out_rows()) {
      allowed.assign((state.clean + 63) / 64, 0);
      for (std::uint64_t i = 0; i < state.clean; ++i) {
        const std::uint32_t number = state.original[i];
        allowed[i / 64] |= (options.allowed[number / 64] >> (number % 64) & 1) << (i % 64);
      }
      filter.allowed = allowed.data();
    }
  }
  if (!options.index_below.empty()) {
    filter.below = options.index_below.data();
    if (state.left_out_rows() || !answers.empty()) {
      below.resize(answers.empty() ? options.index_below.size() : answers.size());
      for (std::size_t q = 0; q < below.size(); ++q) {
        below[q] = clean_points_below(state, options.index_below[answers.empty() ? q : answers[q]]);
      }
      filter.below = below.data();
    }
  }
}

}  // namespace kith::engine
