// The part of the facade for callers that ask one by one: no threads, and no memory beyond the stack.
#include "core/query_row.hpp"
#include "core/metric/reported_distance.hpp"
#include "engine/clean_filter.hpp"
#include "engine/index_state.hpp"
#include "engine/knn_rules.hpp"
#include "engine/periodic_axes.hpp"
#include "engine/validate.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace kith::inline v0 {
namespace {

template <typename T>
void require_one_query(const IndexState& state, std::span<const T> query, std::size_t indices, std::size_t distances,
                       const SearchOptions& options) {
  engine::require_queries_view(PointView(query.data(), 1, static_cast<std::uint32_t>(query.size())),
                               state.callers_dims(), state.dtype);
  if (indices != distances) {
    throw UsageError(fmt::format("{} indices but {} distances; both arrays must have one element per neighbour",
                                 indices, distances));
  }
  if (indices > std::numeric_limits<std::uint32_t>::max()) {
    throw UsageError(fmt::format("{} neighbours are wanted, but 2^32 - 1 are the most", indices));
  }
  engine::require_search_options(
      options, {.metric = state.metric, .kind = engine::SearchKind::knn, .points = state.rows, .queries = 1});
  engine::require_good_row(PointView(query.data(), 1, state.callers_dims()), state.preparation.map());
}

template <typename T>
std::uint32_t search_one(const IndexState& state, std::span<const T> query, std::span<std::uint32_t> indices,
                         std::span<T> distances, const SearchOptions& options) {
  require_one_query(state, query, indices.size(), distances.size(), options);
  if (indices.empty()) return 0;
  T row[engine::kMostDims];
  state.preparation.map().apply(query.data(), row);
  engine::wrap_row(row, state.period);

  engine::QueryBatch<T> batch;
  batch.rows = row;
  batch.row_stride = state.dims;
  batch.count = 1;
  const std::uint32_t below =
      options.index_below.empty() ? 0 : engine::clean_points_below(state, options.index_below[0]);
  engine::CleanFilter translated;
  if (state.left_out_rows() && !options.allowed.empty()) {  // the one case that allocates
    translated = engine::make_clean_filter(state, options, {});
    batch.filter.allowed = translated.filter.allowed;
  } else if (!options.allowed.empty()) {
    batch.filter.allowed = options.allowed.data();
  }
  if (!options.index_below.empty()) batch.filter.below = &below;

  const auto k = static_cast<std::uint32_t>(indices.size());
  searcher_of<T>(state).knn(batch, k, engine::knn_rules<T>(state.metric, options, engine::searched_tree(state)),
                            {.threads = 1}, indices.data(), distances.data(), nullptr);
  std::uint32_t found = 0;
  while (found < k && indices[found] < state.clean) ++found;
  for (std::uint32_t j = 0; j < k; ++j) {
    distances[j] = core::reported_distance(state.metric, options.squared || options.reduced, distances[j]);
    indices[j] = state.original_index(indices[j]);
  }
  return found;
}

}  // namespace

std::uint32_t Index::knn_one(std::span<const float> query, std::span<std::uint32_t> indices, std::span<float> distances,
                             const SearchOptions& options) const {
  return search_one(*state_, query, indices, distances, options);
}

std::uint32_t Index::knn_one(std::span<const double> query, std::span<std::uint32_t> indices,
                             std::span<double> distances, const SearchOptions& options) const {
  return search_one(*state_, query, indices, distances, options);
}

}  // namespace kith::inline v0
