// See clean_filter.hpp.
#include "engine/clean_filter.hpp"

#include "engine/with_memory.hpp"

#include <algorithm>
#include <utility>

namespace kith::engine {
namespace {

/// The bits of the clean points.
std::vector<std::uint64_t> clean_bits(const IndexState& state, std::span<const std::uint64_t> bits) {
  std::vector<std::uint64_t> clean((state.clean + 63) / 64, 0);
  for (std::uint64_t i = 0; i < state.clean; ++i) {
    const std::uint32_t number = state.original[i];
    clean[i / 64] |= (bits[number / 64] >> (number % 64) & 1) << (i % 64);
  }
  return clean;
}

/// The bounds of the queries that were not left out, in clean numbers.
std::vector<std::uint32_t> clean_bounds(const IndexState& state, std::span<const std::uint32_t> below,
                                        std::span<const std::uint64_t> answers) {
  std::vector<std::uint32_t> clean(answers.empty() ? below.size() : answers.size());
  for (std::size_t q = 0; q < clean.size(); ++q) {
    clean[q] = clean_points_below(state, below[answers.empty() ? q : answers[q]]);
  }
  return clean;
}

}  // namespace

std::uint32_t clean_points_below(const IndexState& state, std::uint32_t index) {
  if (state.original.empty()) return state.left_out_rows() ? 0 : index;
  return static_cast<std::uint32_t>(std::lower_bound(state.original.begin(), state.original.end(), index) -
                                    state.original.begin());
}

CleanFilter make_clean_filter(const IndexState& state, const SearchOptions& options,
                              std::span<const std::uint64_t> answers) {
  CleanFilter clean;
  clean.filter.exclude_self = options.exclude_self;
  clean.filter.earlier_only = options.earlier_only;  // clean points keep their order, so "earlier" means the same
  if (!options.allowed.empty()) clean.filter.allowed = options.allowed.data();
  if (!options.index_below.empty()) clean.filter.below = options.index_below.data();
  const std::uint64_t bytes = options.allowed.size_bytes() + options.index_below.size_bytes();
  return with_memory(bytes, "the filter", [&] {
    if (clean.filter.allowed != nullptr && state.left_out_rows()) {
      clean.allowed = clean_bits(state, options.allowed);
      clean.filter.allowed = clean.allowed.data();
    }
    if (clean.filter.below != nullptr && (state.left_out_rows() || !answers.empty())) {
      clean.below = clean_bounds(state, options.index_below, answers);
      clean.filter.below = clean.below.data();
    }
    return std::move(clean);
  });
}

}  // namespace kith::engine
