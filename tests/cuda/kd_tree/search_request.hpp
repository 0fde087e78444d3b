// Random requests to a k-d tree on the host: points, queries, metric, filters; the CPU's searcher knows the answers.
#pragma once

#include "cpu/kd_tree/build.hpp"
#include "engine/backend.hpp"
#include "engine/periodic_axes.hpp"
#include "engine/searcher.hpp"
#include "support/random_case.hpp"

#include <kith/metric.hpp>
#include <kith/point_set.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace kith::test {

/// Keeps what the batch points to.
template <typename T>
struct SearchRequest {
  engine::KdTree<T> tree;
  PointSet points;
  PointSet queries;
  Metric metric;
  std::vector<T> period;
  std::vector<std::uint64_t> allowed;
  std::vector<std::uint32_t> below;
  std::vector<T> bounds;
  engine::QueryBatch<T> batch;

  std::unique_ptr<engine::Searcher<T>> on_cpu() const { return engine::adopt_on_cpu(tree, metric, period); }
  /// The reduced distance of a point that some query finds.
  T typical_reduced(std::mt19937_64& random) const {
    if (batch.count == 0) return T(1);
    const std::uint32_t k = 1 + static_cast<std::uint32_t>(random() % 40);
    std::vector<std::uint32_t> indices(batch.count * k);
    std::vector<T> reduced(batch.count * k);
    on_cpu()->knn(batch, k, {}, {.threads = 1}, indices.data(), reduced.data(), nullptr);
    return reduced[random() % reduced.size()];
  }
  /// Each query gets a bound of its own: nothing, everything, or the reduced distance of some pair, perhaps a little
  /// more.
  void give_bounds(std::mt19937_64& random) {
    const T typical[] = {typical_reduced(random), typical_reduced(random), typical_reduced(random)};
    for (std::uint64_t q = 0; q < batch.count; ++q) {
      const std::uint64_t kind = random() % 16;
      T bound = typical[random() % std::size(typical)];
      if (kind < 4 && std::isfinite(bound)) bound *= static_cast<T>(random() % 1000) / 500;
      if (kind == 4) bound = 0;
      if (kind == 5 && random() % 4 == 0) bound = std::numeric_limits<T>::infinity();
      bounds.push_back(bound);
    }
    batch.bounds = bounds.data();
  }
  std::string text() const {
    std::ostringstream out;
    out << tree.geometry.points << " x " << tree.dims << ", leaves of " << tree.leaf_size << ", " << batch.count
        << (batch.is_self() ? " own" : " other") << " queries, " << metric.name()
        << (period.empty() ? "" : ", periodic") << (batch.filter.is_open() ? "" : ", filtered")
        << (batch.bounds == nullptr ? "" : ", bounds of their own");
    return out.str();
  }
};

template <typename T>
std::unique_ptr<SearchRequest<T>> random_request(std::mt19937_64& random, std::uint64_t most_rows,
                                                 std::uint64_t most_queries = 60) {
  auto request = std::make_unique<SearchRequest<T>>();
  const auto shape = static_cast<NastyShape>(random() % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
  const auto dims = static_cast<std::uint32_t>(random() % 3 == 0 ? 3 : random() % 12 == 0 ? 33 : 1 + random() % 9);
  constexpr std::uint32_t kLeafSizes[] = {1, 2, 3, 8, 16, 24, 40, 64, 500};
  const std::uint32_t leaf_size = kLeafSizes[random() % std::size(kLeafSizes)];
  std::uint64_t rows = random() % (most_rows + 1);
  if (random() % 8 == 0) {
    rows = leaf_size * (random() % 3);
    rows += random() % 3;
  }
  request->points = nasty_points(shape, dtype_of<T>, rows, dims, random);
  request->queries = nasty_points(shape, dtype_of<T>, random() % (most_queries + 1), dims, random);
  switch (random() % 8) {
    case 0:
      request->metric = Metric::l1();
      break;
    case 1:
      request->metric = Metric::linf();
      break;
    case 3:
      request->metric = Metric::canberra();
      break;
    case 2:
      request->metric = Metric::lp(std::array{3.0, 1.5, 2.7}[random() % 3]);
      break;
    default:
      break;
  }
  if (random() % 4 == 0 && request->metric.info().wraps) {
    request->period.assign(dims, std::numeric_limits<T>::infinity());
    for (T& length : request->period) {
      if (random() % 3 != 0) length = T(1) + static_cast<T>(random() % 3);
    }
    const std::vector<double> lengths(request->period.begin(), request->period.end());
    for (PointSet* set : {&request->points, &request->queries}) {
      for (std::uint64_t i = 0; i < set->rows(); ++i) {
        engine::wrap_row(set->template values<T>().data() + i * dims, lengths);
      }
    }
  }
  const T* values = request->points.template values<T>().data();
  request->tree =
      cpu::build_kd_tree(values, rows, dims, {.leaf_size = leaf_size, .cycles = random() % 4 == 0, .threads = 1});
  engine::QueryBatch<T>& batch = request->batch;
  if (rows <= 3 * most_queries && random() % 2 == 0) {
    batch.count = rows;
    batch.filter.exclude_self = random() % 2 == 0;
    batch.filter.earlier_only = random() % 4 == 0;
  } else {
    batch.rows = request->queries.template values<T>().data();
    if (request->queries.rows() == 0) batch.rows = reinterpret_cast<const T*>(request.get());
    batch.row_stride = dims;
    batch.count = request->queries.rows();
    if (random() % 4 == 0) {
      for (std::uint64_t q = 0; q < batch.count; ++q) {
        request->below.push_back(static_cast<std::uint32_t>(random() % (rows + 2)));
      }
      batch.filter.below = request->below.data();
    }
  }
  if (random() % 4 == 0) {
    request->allowed.resize(rows / 64 + 1);
    for (std::uint64_t& word : request->allowed) word = random() & random();
    batch.filter.allowed = request->allowed.data();
  }
  return request;
}

/// The same for boxes.
template <typename T>
struct BoxRequest {
  engine::KdTree<T> tree;
  PointSet points;
  std::vector<T> lower, upper;
  std::vector<std::uint64_t> allowed;
  std::vector<std::uint32_t> below;
  engine::BoxBatch<T> batch;
};

template <typename T>
std::unique_ptr<BoxRequest<T>> random_boxes(std::mt19937_64& random, std::uint64_t most_rows) {
  const auto base = random_request<T>(random, most_rows, 0);
  auto request = std::make_unique<BoxRequest<T>>();
  request->tree = base->tree;
  const std::uint64_t rows = base->points.rows(), boxes = random() % 12;
  const std::uint32_t dims = base->tree.dims;
  const T* values = base->points.template values<T>().data();
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  for (std::uint64_t b = 0; b < boxes; ++b) {
    const std::uint64_t kind = random() % 8;
    for (std::uint32_t d = 0; d < dims; ++d) {
      T low = rows == 0 ? T(0) : values[(random() % rows) * dims + d];
      T high = rows == 0 ? T(1) : values[(random() % rows) * dims + d];
      if (high < low && kind != 0) std::swap(low, high);
      if (kind >= 5 || random() % 4 == 0) low = -kInfinity;
      if (kind == 6 || random() % 4 == 0) high = kInfinity;
      if (kind == 7 && random() % 8 == 0) low = std::numeric_limits<T>::quiet_NaN();
      request->lower.push_back(low);
      request->upper.push_back(high);
    }
    request->below.push_back(static_cast<std::uint32_t>(random() % (rows + 2)));
  }
  request->allowed = std::vector<std::uint64_t>(rows / 64 + 1);
  for (std::uint64_t& word : request->allowed) word = random();
  request->batch.lower = request->lower.data();
  request->batch.upper = request->upper.data();
  request->batch.lower_stride = request->batch.upper_stride = dims;
  request->batch.count = boxes;
  if (random() % 3 == 0) request->batch.filter.below = request->below.data();
  if (random() % 3 == 0) request->batch.filter.allowed = request->allowed.data();
  return request;
}

}  // namespace kith::test
