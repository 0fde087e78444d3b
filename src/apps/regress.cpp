// See regress.hpp: the lists of all queries, then a mean for each, all at once.
#include <kith/apps/regress.hpp>

#include "apps/neighbor_search.hpp"
#include "apps/allocate.hpp"
#include "core/vote.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>

namespace kith::apps::inline v0 {
namespace {

/// Neighbours that one task looks at.
constexpr std::uint64_t kValuesPerTask = std::uint64_t{1} << 15;

template <typename T>
double mean_of_list(const std::uint32_t* row, const T* distances, std::uint32_t k, std::span<const double> values,
                    Weights weights) {
  double sum = 0;
  if (weights == Weights::uniform) {
    for (std::uint32_t j = 0; j < k; ++j) sum += values[row[j]];
    return sum / k;
  }
  double total = 0;
  for (std::uint32_t j = 0; j < k; ++j) {
    const double weight = core::distance_weight(distances[0], distances[j]);
    sum += weight * values[row[j]];
    total += weight;
  }
  return sum / total;
}

template <typename T>
void take_means(const Neighbors& lists, std::span<const double> values, const NeighborOptions& options, double* means) {
  const std::uint32_t* const indices = lists.indices().data();
  const T* const distances = lists.distances().values<T>().data();
  const std::uint64_t k = lists.k();
  const std::uint64_t rows = std::max<std::uint64_t>(1, kValuesPerTask / k);
  const std::uint64_t tasks = (lists.queries() + rows - 1) / rows;
  runtime::parallel_for(tasks, {.threads = options.threads}, [&](std::uint64_t task) {
    const std::uint64_t end = std::min(lists.queries(), (task + 1) * rows);
    for (std::uint64_t q = task * rows; q < end; ++q) {
      means[q] = mean_of_list(indices + q * k, distances + q * k, lists.k(), values, options.weights);
    }
  });
}

}  // namespace

Regressed regress(PointView points, std::span<const double> values, PointView queries, const NeighborOptions& options) {
  require_values(values, points.rows());
  require_weights(options);
  require_neighbors(options.k, points.rows(), points.rows(), queries.rows());
  Regressed result;
  const Index index = build_index(points, queries.rows(), options, result.work);
  allocate(result.values, queries.rows(), 1, "values");
  search_in_order(index, queries, {}, options, "averaging", result.work,
                  [&](std::uint64_t first, const Neighbors& lists) {
                    double* const means = result.values.data() + first;
                    if (lists.dtype() == DType::f32) {
                      take_means<float>(lists, values, options, means);
                    } else {
                      take_means<double>(lists, values, options, means);
                    }
                  });
  return result;
}

}  // namespace kith::apps::inline v0
