// The oracle: slow, obvious code that follows the contract word by word and shares nothing with the library's engines.
#pragma once

#include <kith/metric.hpp>
#include <kith/neighbors.hpp>
#include <kith/point_view.hpp>

#include <cstdint>
#include <limits>
#include <vector>

namespace kith::test {

/// What is asked of the oracle. The queries are the points themselves if `queries` is null.
struct Request {
  PointView points;
  const PointView* queries = nullptr;
  Metric metric = Metric::l2();
  bool exclude_self = false;
  bool squared = false;
  double max_distance = std::numeric_limits<double>::infinity();  ///< kNN only
  std::vector<bool> allowed = {};                                 ///< per point; empty: all
  bool earlier_only = false;
  std::vector<std::uint32_t> index_below = {};  ///< per query; empty: no bound
  std::vector<double> period = {};              ///< per axis, 0 where it does not wrap; empty: none does
  std::vector<double> radii = {};               ///< per query, in place of the radius of the call; empty: none
  std::vector<double> metric_params = {};       ///< as in BuildOptions
};

Neighbors oracle_knn(const Request& request, std::uint32_t k);
/// `most` > 0 keeps that many nearest of each list.
NeighborLists oracle_radius(const Request& request, double radius, std::uint32_t most = 0);
std::vector<std::uint32_t> oracle_count(const Request& request, double radius);

/// The points inside each box, row b of `lower` to row b of `upper`; `allowed` and `index_below` as in a Request.
PointLists oracle_box(const Request& request, PointView lower, PointView upper);

/// The reported distance of two rows by the contract's chain.
template <typename T>
T oracle_distance(Metric metric, bool squared, std::vector<T> query, std::vector<T> point);

}  // namespace kith::test
